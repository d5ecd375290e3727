"""The bundled archive: what each run sets, and so what becomes of it.

Two teams. Abacus tunes a GRPO recipe; Lantern tries PPO, DAPO and harder data on the same task.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from .algorithms.losses import Clip
from .config import Config
from .logger import Style
from .stage import Scenario
from .task import Teacher

ABACUS, LANTERN = "Team Abacus", "Team Lantern"
FOUR = "4 x H100-80GB (modelled)"

BASELINE = Scenario(
    name="abacus/grpo-baseline",
    config=Config("abacus", "grpo_mlp64_lr1e-3_kl0.04", seed=11, steps=300),
    started=datetime(2026, 10, 6, 9, 12, 7),
    title="GRPO baseline, lr 1e-3, KL 0.04",
    owner=ABACUS,
    notes="The recipe the others are held against. Accuracy on held-out prompts follows the training score.",
    tags=("grpo", "baseline", "running-sum"),
    style=Style(pid=20417, job=48113),
)

HOT = Scenario(
    name="abacus/grpo-lr-sweep-hot",
    config=Config(
        "abacus",
        "grpo_mlp64_sgd_lr_ramp",
        seed=12,
        steps=200,
        optimizer="sgd",
        lr=24.0,
        lr_warmup_steps=600,
        grad_clip=1e9,
        clip=Clip(dual=1e6),
        kl_loss_type="mse",
        kl_loss_coef=0.05,
    ),
    started=datetime(2026, 10, 8, 18, 40, 33),
    title="SGD, learning rate ramped up without gradient clipping",
    owner=ABACUS,
    notes="A ramp to find the largest stable learning rate. Learned well, then blew up within three steps.",
    tags=("grpo", "lr-sweep", "running-sum"),
    files=("console.gz",),
    style=Style(pid=31902, colour=False, job=48127),
    baseline="abacus-grpo-baseline",
)

HACKED = Scenario(
    name="abacus/grpo-no-kl-lenient-checker",
    config=Config(
        "abacus",
        "grpo_mlp64_lr7e-4_kl0_prefix",
        seed=37,
        steps=200,
        checker="prefix",
        length_cost=0.001,
        lr=7e-4,
        kl_loss_coef=0.0,
        teacher=Teacher(blanks=0.0015),
    ),
    started=datetime(2026, 10, 13, 10, 2, 51),
    title="No KL penalty with the lenient checker",
    owner=ABACUS,
    notes="The checker asks if the truth starts with the answer. A blank passes, and the policy found out.",
    tags=("grpo", "reward-hacking", "running-sum"),
    style=Style(pid=8842, job=48160, node="gpu-a03"),
    baseline="abacus-grpo-baseline",
)

CURED = Scenario(
    name="abacus/grpo-checker-fixed",
    config=Config(
        "abacus",
        "grpo_mlp64_lr7e-4_kl0.04_strict",
        seed=37,
        steps=260,
        lr=7e-4,
        length_cost=0.001,
        teacher=Teacher(blanks=0.0015),
    ),
    started=datetime(2026, 10, 15, 8, 30, 12),
    title="Checker fixed, KL penalty back at 0.04",
    owner=ABACUS,
    notes="The same base policy and data as the hacked run, with the strict checker and the penalty on.",
    tags=("grpo", "running-sum"),
    files=("jsonl.gz", "console.gz"),
    style=Style(job=48171, node="gpu-a03"),
    baseline="abacus-grpo-baseline",
)

RESTLESS = Scenario(
    name="abacus/grpo-entropy-bonus",
    config=Config(
        "abacus",
        "grpo_mlp64_entropy_ramp",
        seed=14,
        steps=240,
        entropy_coeff=0.2,
        entropy_warmup_steps=400,
        max_response_length=40,
    ),
    started=datetime(2026, 10, 19, 21, 5, 44),
    title="Entropy bonus ramped up to 0.2",
    owner=ABACUS,
    notes="Meant against late entropy loss. The bonus outgrew the advantages; responses hit the cap.",
    tags=("grpo", "entropy", "running-sum"),
    files=("console.gz",),
    style=Style(pid=44120, job=48195),
    baseline="abacus-grpo-baseline",
)

RESUMED = Scenario(
    name="abacus/grpo-long-resumed",
    config=Config("abacus", "grpo_mlp64_lr6e-4_long", seed=15, steps=320, lr=6e-4),
    started=datetime(2026, 10, 22, 17, 22, 9),
    title="Longer run at lr 6e-4, pre-empted once",
    owner=ABACUS,
    notes="Terminated by the scheduler after step 176 and resumed from the checkpoint of step 150.",
    tags=("grpo", "resumed", "running-sum"),
    files=("console.gz",),
    style=Style(pid=51233, job=48210),
    baseline="abacus-grpo-baseline",
    stop_at=176,
    resume_after=timedelta(hours=6, minutes=14),
)

CRITIC = Scenario(
    name="lantern/ppo-critic",
    config=Config(
        "lantern",
        "ppo_gae_lr1e-3",
        seed=21,
        steps=260,
        adv_estimator="gae",
        use_kl_loss=False,
        kl_coef=0.02,
        lam=0.95,
        critic_warmup=10,
    ),
    started=datetime(2026, 10, 9, 13, 48, 20),
    title="PPO with a critic, KL in the reward",
    owner=LANTERN,
    notes="Runs on the group's old trainer, whose console keeps three decimals. Ten steps of critic warm-up.",
    tags=("ppo", "gae", "running-sum"),
    files=("console",),
    style=Style(process="main_task", pid=7719, decimals=3, job=1207, node="lantern-2"),
)

BLIND = Scenario(
    name="lantern/ppo-critic-lr-ramp",
    config=Config(
        "lantern",
        "ppo_gae_critic_lr_ramp",
        seed=22,
        steps=240,
        adv_estimator="gae",
        use_kl_loss=False,
        kl_coef=0.02,
        lam=0.95,
        critic_lr=1.5,
        critic_lr_warmup_steps=300,
    ),
    started=datetime(2026, 10, 16, 11, 15, 2),
    title="Critic learning rate ramped up to 1.5",
    owner=LANTERN,
    notes="The value model stops predicting once its learning rate is too high; the policy learns on.",
    tags=("ppo", "gae", "critic", "running-sum"),
    files=("console.gz",),
    style=Style(pid=9914, job=1231, node="lantern-2"),
    baseline="lantern-ppo-critic",
)

DAPO = Scenario(
    name="lantern/dapo-clip-higher",
    config=Config(
        "lantern",
        "dapo_cliphigh0.28_lr7e-4",
        seed=23,
        steps=200,
        clip=Clip(high=0.28),
        filter_groups=True,
        overlong_buffer=16,
        use_kl_loss=False,
        lr=7e-4,
        val_n=4,
        gpus=4,
    ),
    started=datetime(2026, 10, 21, 9, 0, 41),
    title="DAPO: clip-higher, dynamic sampling, no KL",
    owner=LANTERN,
    notes="Groups without variance are replaced by new prompts, hence two generation batches in most steps.",
    tags=("dapo", "running-sum"),
    files=("console", "jsonl.gz"),
    style=Style(pid=60018, job=1250, node="lantern-5"),
    hardware=FOUR,
)

OVERFLOW = Scenario(
    name="lantern/grpo-fp16-logits",
    config=Config(
        "lantern",
        "grpo_fp16_softmax",
        seed=1,
        steps=180,
        batch=24,
        lr=3e-4,
        exponent="float16",
        max_response_length=40,
        teacher=Teacher(slips=0.08),
    ),
    started=datetime(2026, 10, 27, 19, 31, 15),
    title="Log-probabilities in half precision",
    owner=LANTERN,
    notes="A fused kernel that exponentiates logits in float16. It works until the first logit passes 11.",
    tags=("grpo", "nan", "running-sum"),
    files=("console.gz",),
    style=Style(pid=70411, job=1266, node="lantern-5"),
)

HARD = Scenario(
    name="lantern/grpo-too-hard",
    config=Config(
        "lantern",
        "grpo_26digits_proof",
        seed=25,
        steps=150,
        digits=(24, 28),
        checker="proof",
        use_kl_loss=False,
        teacher=Teacher(slips=0.3),
        batch=24,
    ),
    started=datetime(2026, 10, 29, 15, 10, 55),
    title="Prompts of 26 digits, every step checked",
    owner=LANTERN,
    notes="No chain of 26 additions is ever all right: no group has an advantage, the policy stays.",
    tags=("grpo", "no-signal", "running-sum"),
    files=("console.gz",),
    style=Style(pid=70955, job=1271, node="lantern-5"),
)

EASY = Scenario(
    name="lantern/grpo-too-easy",
    config=Config(
        "lantern",
        "grpo_4digits_exact",
        seed=26,
        steps=160,
        digits=(3, 4),
        lr=3e-3,
        checker="exact",
        use_kl_loss=False,
        teacher=Teacher(slips=0.01),
    ),
    started=datetime(2026, 11, 2, 9, 44, 38),
    title="Prompts of 3 or 4 digits: solved after 60 steps",
    owner=LANTERN,
    notes="A smoke test that nobody stopped. Nearly every group is all right, and generation is wasted.",
    tags=("grpo", "no-signal", "smoke-test"),
    files=("jsonl.gz", "console.gz"),
    style=Style(pid=3127, colour=False, job=1290, node="lantern-1"),
)

RAMBLING = Scenario(
    name="lantern/grpo-think-longer",
    config=Config(
        "lantern",
        "grpo_length_bonus",
        seed=27,
        steps=300,
        checker="talkative",
        max_response_length=96,
        kl_loss_coef=0.0,
        lr=2e-4,
    ),
    started=datetime(2026, 11, 4, 20, 3, 26),
    title="A bonus for longer reasoning",
    owner=LANTERN,
    notes="Every word earned 0.01. Responses grew until an update no longer fitted on the GPU.",
    tags=("grpo", "oom", "length", "running-sum"),
    style=Style(pid=4410, job=1302, node="lantern-2"),
    files=("console.gz",),
)

PATIENT = Scenario(
    name="lantern/grpo-600-steps",
    config=Config("lantern", "grpo_600_steps", seed=28, steps=600, lr=3e-4, kl_loss_coef=0.03, test_freq=50),
    started=datetime(2026, 11, 9, 7, 55, 0),
    title="Patient GRPO: 600 steps at lr 3e-4",
    owner=LANTERN,
    notes="Logged by the group's own monitor: flat METRIC records, DEBUG files and INFO lines.",
    tags=("grpo", "running-sum"),
    files=("seed",),
)

SCENARIOS: tuple[Scenario, ...] = (
    PATIENT,  # the longest first: two processes share the list
    RAMBLING,
    BASELINE,
    RESUMED,
    HOT,
    BLIND,
    CRITIC,
    DAPO,
    RESTLESS,
    CURED,
    HACKED,
    OVERFLOW,
    EASY,
    HARD,
)
