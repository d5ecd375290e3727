"""Secrets leave a text; what only looks like one stays.

Planted secrets are put together from pieces, so that scanners of this repository find none.
"""

from __future__ import annotations

import pytest

from sitegen.config import Redaction
from sitegen.redact import redact, redact_name, redact_value, using

HEX40 = "0123456789abcdef" * 2 + "01234567"
MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3gH5"

SECRETS = [
    ("hf-token", "hf" + "_" + MIXED),
    ("openai-key", "sk" + "-" + MIXED),
    ("openai-key", "sk-" + "proj-" + MIXED),
    ("anthropic-key", "sk-" + "ant-api03-" + MIXED),
    ("aws-key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("github-token", "gh" + "p_" + MIXED),
    ("github-token", "github" + "_pat_" + MIXED),
    ("gitlab-token", "gl" + "pat-" + MIXED[:20]),
    ("google-key", "AI" + "za" + MIXED[:35]),
    ("slack-token", "xo" + "xb-" + "123456789012-" + MIXED[:20]),
    ("wandb-key", "local" + "-" + HEX40),
    ("jwt", "ey" + "JhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmN"),
    ("email", "jane.doe" + "@" + "lab.example.org"),
    ("email", "jané.doe" + "@" + "läb.example.org"),
    ("npm-token", "np" + "m_" + MIXED),
    ("pypi-token", "py" + "pi-AgEIcHlwaS5vcmc" + MIXED),
    ("sendgrid-key", "S" + "G." + MIXED[:22] + "." + MIXED),
    ("stripe-key", "sk" + "_live_" + MIXED),
    ("twilio-key", "S" + "K" + HEX40[:32]),
    ("age-key", "AGE-SECRET" + "-KEY-1" + MIXED.upper()),
    ("telegram-token", "123456789" + ":AA" + MIXED[:33]),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
def test_a_secret_is_replaced_by_a_mark_of_its_kind(kind: str, secret: str) -> None:
    text, found = redact(f"before {secret} after")
    assert text == f"before [redacted:{kind}] after"
    assert found == {kind: 1}


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (
            "url-password",
            "https://jane:pa" + "ss@proxy.lab:3128/x",
            "https://[redacted:url-password]@proxy.lab:3128/x",
        ),
        ("url-password", "redis://:pa" + "ss@10.0.0.1:6379", "redis://[redacted:url-password]@10.0.0.1:6379"),
        ("wandb-key", f"wandb login {HEX40}", "wandb login [redacted:wandb-key]"),
        ("wandb-key", f"wandb: Paste an API key: {HEX40}", "wandb: Paste an API key: [redacted:wandb-key]"),
        ("key", f"WANDB_API_KEY={MIXED}", "WANDB_API_KEY=[redacted:key]"),
        ("key", f"'api_key': '{MIXED}',", "'api_key': '[redacted:key]',"),
        ("key", f"--openai-api-key {MIXED}", "--openai-api-key [redacted:key]"),
        ("token", f"HF_TOKEN={MIXED}", "HF_TOKEN=[redacted:token]"),
        ("token", f'"token": "{MIXED}"', '"token": "[redacted:token]"'),
        ("password", "password=hunter2", "password=[redacted:password]"),
        ("password", "db_passwd: tiger", "db_passwd: [redacted:password]"),
        ("secret", f"aws_secret_access_key = {MIXED}", "aws_secret_access_key = [redacted:secret]"),
        ("bearer", f"Authorization: Bearer {MIXED}", "Authorization: Bearer [redacted:bearer]"),
        ("password", "run --password hunter3 --lr 1", "run --password [redacted:password] --lr 1"),
        ("password", "run --db-passwd 'a b' x", "run --db-passwd [redacted:password] x"),
        ("password", "curl -u bob:" + "pw http://x", "curl -u bob:[redacted:password] http://x"),
        ("password", "sshpass -p " + "pw ssh u@h", "sshpass -p [redacted:password] ssh u@h"),
        ("password", "密码：" + "hunter4", "密码：[redacted:password]"),
        ("password", "password：" + "hunter4", "password：[redacted:password]"),
        ("password", 'PASSWORD="' + 'two words"', 'PASSWORD="[redacted:password]"'),
        ("password", "'password': '" + "a,b;c'", "'password': '[redacted:password]'"),
        ("password", '{\\"password\\": \\"' + 'hunter5\\"}', '{\\"password\\": \\"[redacted:password]"}'),
        ("password", 'password="' + "cut", 'password="[redacted:password]'),
        ("url-token", f"https://{MIXED}@gitlab.lab/x.git", "https://[redacted:url-token]@gitlab.lab/x.git"),
        (
            "url-signature",
            f"https://a.blob.lab/c?sv=2020&sig={MIXED}%3D&se=1",
            "https://a.blob.lab/c?sv=2020&sig=[redacted:url-signature]&se=1",
        ),
        ("cookie", f"Cookie: sessionid={MIXED}; a=b", "Cookie: [redacted:cookie]"),
        ("cookie", f"'Set-Cookie': 's={MIXED}; Path=/'", "'Set-Cookie': '[redacted:cookie]'"),
        ("docker-auth", '"auth": "' + 'Ym9iOnBhc3M="', '"auth": "[redacted:docker-auth]"'),
        ("key", f"WANDB_API_KEY=\x1b[31m{MIXED}\x1b[0m", "WANDB_API_KEY=[redacted:key]"),
        *(
            (kind, f"https://{place}{secret}{rest}", f"https://{place}[redacted:{kind}]{rest}")
            for kind, place, secret, rest in (
                ("webhook", "open.feishu.cn/open-apis/bot/v2/hook/", "1111-" + MIXED, ""),
                ("webhook", "open.larksuite.com/open-apis/bot/v2/hook/", "1111-" + MIXED, ""),
                ("webhook", "discord.com/api/webhooks/123456789012345678/", "x_" + MIXED, ""),
                ("webhook", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", "1111-" + MIXED, ""),
                ("telegram-token", "api.telegram.org/bot", "123456789" + ":AA" + MIXED, "/sendMessage"),
            )
        ),
    ],
)
def test_surroundings_give_a_secret_away(kind: str, text: str, expected: str) -> None:
    assert redact(text) == (expected, {kind: 1})


def test_a_private_key_goes_as_a_whole() -> None:
    begin, end = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"
    text, found = redact(f"key:\n{begin}\nMIIEpAIBAAKCAQEA\nabc\n{end}\nrest")
    assert text == "key:\n[redacted:private-key]\nrest"
    assert found == {"private-key": 1}


def test_a_private_key_that_is_cut_goes_to_the_end() -> None:
    text, _ = redact("-----BEGIN " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA")
    assert text == "[redacted:private-key]"


def test_every_secret_is_counted() -> None:
    token = "hf" + "_" + MIXED
    assert redact(f"{token} {token} a@b.example.org")[1] == {"hf-token": 2, "email": 1}


@pytest.mark.parametrize(
    "text", [redact(f"x {secret} y")[0] for _, secret in SECRETS] + ["PASSWORD=[redacted:password]"]
)
def test_redacting_twice_changes_nothing(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(
    "text",
    [
        "step:1 - actor/entropy:0.5 - val-core/openai/gsm8k/acc/mean@30:0.25 - perf/total_num_tokens:1202599",
        "val-aux/aime_2024/acc/best@32/std:0.1 val-aux/math/acc/maj@16.mean:0.2",
        f"commit {HEX40}",
        f"git checkout {HEX40} # verl",
        "tokens_per_sec=1245.6 max_tokens: 4096 num_tokens_prompt=512",
        "eos_token_id: 151645, pad_token='<|endoftext|>' eos_token=<|im_end|>",
        "data.prompt_key=prompt data.reward_fn_key=data_source image_key: images_of_the_question",
        "token_level_loss: token-mean; loss_agg_mode=seq-mean-token-mean",
        "/mnt/data/checkpoints/token_models/global_step_300/actor",
        "algorithm.kl_ctrl.kl_coef=0.001 actor.optim.lr=1e-6 token: 3",
        '  File "/opt/verl/workers/fsdp_workers.py", line 512, in generate_sequences',
        "key: value, secret of success: none",
        "WANDB_API_KEY=None HF_TOKEN= password: null token: ${oc.env:HF_TOKEN}",
        "git clone git@github.com:volcengine/verl.git",
        "https://github.com:443/volcengine/verl",
        "sk-learn-style-pipeline-without-digits-in-it",
        "basic configuration of the bearer channel",
        "max_token=4096 num_tokens=512 total_tokens: 99 --max-tokens 8192 --stop-token 151645",
        "tokenizer: '/models/Qwen 2.5' chat_token='some short words' image_key='the images'",
        "ssh://git@github.com/x/y https://jane@host/x docker://image:tag@sha256:0123",
        "--password-file /run/secret.txt --password is required; use --password or --password-stdin",
        "curl -s http://localhost:8000/health -o out.txt; curl --user-agent verl:1 is fine",
        "cookie: none; accept_cookies=true; auth: basic; 'auth': 'none'",
        "SKIP SK_0123 SG.1 sk_live npm_config_cache npm_lifecycle_event pypi-mirror",
        "val-aux/acc_best@32_std.mean:0.1 val-core/数学/acc/mean@16:0.5 图片@2x.png",
        "\x1b[36m(TaskRunner pid=1)\x1b[0m step:1 - actor/lr:1e-6",
        "密码学 密钥长度 令牌数: 4096",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("reward_model.api_key", MIXED, "[redacted:key]"),
        ("trainer.hf_token", MIXED, "[redacted:token]"),
        ("db.password", "hunter2", "[redacted:password]"),
        ("trainer.wandb_proxy", "http://u:pa" + "ss@proxy:3128", "http://[redacted:url-password]@proxy:3128"),
        ("data.prompt_key", "prompt", "prompt"),
        ("rollout.max_tokens", "4096", "4096"),
        ("model.eos_token", "<|im_end|>", "<|im_end|>"),
        ("reward_model.api_key", "None", "None"),
        ("trainer.experiment_name", "grpo-kl0.001", "grpo-kl0.001"),
    ],
)
def test_a_setting_is_judged_by_its_name_too(name: str, value: str, expected: str) -> None:
    assert redact_value(name, value)[0] == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"note/WANDB_API_KEY={MIXED}", "note/WANDB_API_KEY=[redacted:key]"),
        ("note/password: " + "hunter2", "note/password: [redacted:password]"),
        ("val-core/token=sentence_level_1/acc", "val-core/token=sentence_level_1/acc"),
        (
            "val-core/key: the longest of all names/acc/mean@16",
            "val-core/key: the longest of all names/acc/mean@16",
        ),
    ],
)
def test_a_metric_is_called_anything_but_a_secret(name: str, expected: str) -> None:
    assert redact_name(name)[0] == expected


def test_long_texts_take_linear_time() -> None:
    for text in (
        "a" * 200_000,
        "a." * 100_000 + "@",
        "key=" * 50_000,
        "://" * 60_000,
        "A" * 100_000 + "=b",
        'password="' * 20_000,
        "curl -u a" * 20_000,
        "é@" * 50_000,
        "--pwd " * 30_000,
        "://1" * 50_000,
        "cookie: a" * 20_000,
        "密码：" * 30_000,
    ):
        redact(text)


OWN = Redaction((("ticket", r"ACME-\d{4,}"), ("host", r"\b[\w-]+\.corp\.example\b")), ("lab.example.org",))


def test_a_site_takes_out_what_it_lists_in_texts_names_and_values() -> None:
    with using(OWN):
        assert redact("see ACME-12345 on gpu7.corp.example") == (
            "see [redacted:ticket] on [redacted:host]",
            {"ticket": 1, "host": 1},
        )
        assert redact_name("loss/ACME-12345") == ("loss/[redacted:ticket]", {"ticket": 1})
        assert redact_value("note", "ACME-1234") == ("[redacted:ticket]", {"ticket": 1})
    assert redact("see ACME-12345") == ("see ACME-12345", {})


def test_what_always_goes_goes_before_it_and_marks_stay_whole() -> None:
    with using(Redaction((("word", "token|redacted|hf"),))):
        assert redact(f"a token hf_{MIXED}")[0] == "a [redacted:word] [redacted:hf-token]"


def test_a_pattern_may_match_in_a_text_that_is_too_short_for_a_secret() -> None:
    with using(Redaction((("vip", "Bo"),))):
        assert redact("Bo")[0] == "[redacted:vip]"


def test_addresses_of_listed_domains_and_below_stay() -> None:
    kept, other = "help" + "@Lists.Lab.example.org", "help" + "@notlab.example.org"
    with using(OWN):
        assert redact(f"mail {kept} or {other}") == (f"mail {kept} or [redacted:email]", {"email": 1})
    assert redact(f"mail {kept}")[0] == "mail [redacted:email]"
