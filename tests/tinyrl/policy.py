"""An autoregressive softmax policy and its critic: one hidden layer over features of what was written so far.

Forward and backward passes are written out; `test_policy.py` holds them against finite differences.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .task import DIGITS, END, EOS, MARK, VOCAB, Ints, Prompts

Array = NDArray[np.floating]

# One-hot slots of a state: last token, last digit written, digit under the pointer, how far the answer is,
# share of the length used up. The last one, whether all totals are right so far, is shown to the critic only.
SLOTS = (VOCAB + 1, DIGITS + 1, DIGITS + 1, 4, 8, 2)
OFFSETS = np.concatenate([[0], np.cumsum(SLOTS)[:-1]])
POLICY_INPUTS = int(OFFSETS[-1])
CRITIC_INPUTS = int(sum(SLOTS))
LEAK = np.float32(0.01)  # a unit that is never active can come back


class Reader:
    """Follows a batch of responses token by token and says what the policy sees before each."""

    def __init__(self, prompts: Prompts, cap: int) -> None:
        n = len(prompts)
        self._cap = cap
        self._totals = prompts.totals
        self._digits = np.concatenate([prompts.digits, np.full((n, 1), END)], axis=1)
        self._rows = np.arange(n)
        self._pointer = np.zeros(n, np.int64)
        self._last = np.full(n, VOCAB)
        self._digit = np.full(n, DIGITS)
        self._stage = np.zeros(n, np.int64)
        self._on_track = np.ones(n, np.int64)
        self._length = 0

    def state(self) -> Ints:
        """Feature indices, shape (n, len(SLOTS))."""
        under_pointer = self._digits[self._rows, self._pointer]
        used = np.full(len(self._rows), self._length * 8 // self._cap)
        slots = (self._last, self._digit, under_pointer, self._stage, used, self._on_track)
        return np.stack(slots, axis=1) + OFFSETS

    def advance(self, tokens: Ints) -> None:
        """Append one token to every response."""
        thinking = self._stage == 0
        is_digit = tokens < DIGITS
        counted = thinking & is_digit & (self._pointer < self._digits.shape[1] - 1)
        expected = self._totals[self._rows, np.minimum(self._pointer, self._totals.shape[1] - 1)]
        self._on_track &= np.where(counted, tokens == expected, 1)
        self._pointer += counted
        self._stage = np.where(thinking, tokens == MARK, np.minimum(self._stage + is_digit, 3))
        self._digit = np.where(is_digit, tokens, self._digit)
        self._last = tokens
        self._length += 1


def one_hot(states: Ints, inputs: int) -> NDArray[np.float32]:
    """(n, inputs) float32 of the slots that lie below `inputs`."""
    dense = np.zeros((len(states), inputs), np.float32)
    visible = states[:, inputs > OFFSETS]
    dense[np.arange(len(states))[:, None], visible] = 1.0
    return dense


@dataclass
class Net:
    """y = leaky_relu(x W1 + b1) W2 + b2, float32."""

    weights: dict[str, Array]

    @classmethod
    def new(cls, rng: np.random.Generator, inputs: int, hidden: int, outputs: int) -> Net:
        first = rng.normal(0.0, np.sqrt(2.0 / len(SLOTS)), (inputs, hidden)).astype(np.float32)
        second = rng.normal(0.0, np.sqrt(1.0 / hidden), (hidden, outputs)).astype(np.float32)
        zeros = (np.zeros(hidden, np.float32), np.zeros(outputs, np.float32))
        return cls({"w1": first, "b1": zeros[0], "w2": second, "b2": zeros[1]})

    @property
    def inputs(self) -> int:
        return int(self.weights["w1"].shape[0])

    def copy(self) -> Net:
        return Net({name: value.copy() for name, value in self.weights.items()})

    def hidden(self, x: Array) -> Array:
        """The hidden layer, (n, hidden)."""
        inner = x @ self.weights["w1"] + self.weights["b1"]
        return np.maximum(inner, LEAK * inner, out=inner)

    def output(self, hidden: Array) -> Array:
        """The output layer of a hidden layer, (n, outputs)."""
        return hidden @ self.weights["w2"] + self.weights["b2"]

    def forward(self, x: Array) -> Array:
        return self.output(self.hidden(x))

    def backward(self, x: Array, hidden: Array, upstream: Array) -> dict[str, Array]:
        """Gradients of sum(upstream * forward(x)), where `hidden` is hidden(x)."""
        inner = (upstream @ self.weights["w2"].T) * np.where(hidden > 0, np.float32(1.0), LEAK)
        return {"w1": x.T @ inner, "b1": inner.sum(0), "w2": hidden.T @ upstream, "b2": upstream.sum(0)}


def log_softmax(logits: Array, exponent: str = "float32") -> Array:
    """Log-probabilities, (n, vocab).

    With exponent "float16" the sum of exponentials is taken in half precision and the maximum not subtracted,
    as a careless fused kernel does: a logit above 11.09 overflows, its row becomes -inf, what follows NaN.
    """
    if exponent == "float16":
        with np.errstate(over="ignore"):
            total = np.exp(logits.astype(np.float16)).sum(1, keepdims=True, dtype=np.float32)
        return np.asarray(logits - np.log(total))
    shifted = logits - logits.max(1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(1, keepdims=True)))


def grad_norm(gradients: dict[str, Array]) -> float:
    """L2 norm over all weights."""
    return float(np.sqrt(sum(float(np.square(g, dtype=np.float64).sum()) for g in gradients.values())))


@dataclass
class Adam:
    """Adam (Kingma and Ba 2015) with gradient clipping by global norm."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    steps: int = 0
    first: dict[str, Array] = field(default_factory=dict)
    second: dict[str, Array] = field(default_factory=dict)

    def step(self, net: Net, gradients: dict[str, Array], lr: float, clip: float) -> float:
        """Update `net` in place; returns the gradient norm before clipping."""
        norm = grad_norm(gradients)
        scale = min(1.0, clip / (norm + 1e-6))
        self.steps += 1
        for name, raw in gradients.items():
            self._move(net.weights, name, raw * np.float32(scale), lr)
        return norm

    def _move(self, weights: dict[str, Array], name: str, gradient: Array, lr: float) -> None:
        first = self.first.get(name, 0.0) * self.beta1 + (1 - self.beta1) * gradient
        second = self.second.get(name, 0.0) * self.beta2 + (1 - self.beta2) * np.square(gradient)
        self.first[name], self.second[name] = first, second
        unbiased = np.sqrt(second / (1 - self.beta2**self.steps)) + self.epsilon
        change = lr * first / (1 - self.beta1**self.steps) / unbiased
        weights[name] = (weights[name] - change).astype(np.float32)


@dataclass
class Sgd:
    """Stochastic gradient descent: steps as long as the gradient, bounded by nothing but the clipping."""

    def step(self, net: Net, gradients: dict[str, Array], lr: float, clip: float) -> float:
        """Update `net` in place; returns the gradient norm before clipping."""
        norm = grad_norm(gradients)
        scale = min(1.0, clip / (norm + 1e-6))
        for name, gradient in gradients.items():
            net.weights[name] = net.weights[name] - np.float32(lr * scale) * gradient
        return norm


OPTIMIZERS = {"adam": Adam, "sgd": Sgd}


def end_of(tokens: Ints) -> NDArray[np.bool_]:
    """Which tokens end a response."""
    return np.asarray(tokens == EOS)
