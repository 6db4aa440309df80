"""Plain torch, as one who knows it trains a network on rows: AdamW, and a learning rate that rises and decays."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn


class TorchMLP:
    """Two hidden layers of ReLU, AdamW with OneCycleLR."""

    def __init__(self, hidden: int = 256, epochs: int = 10, batch: int = 128, rate: float = 3e-3) -> None:
        self.hidden, self.epochs, self.batch, self.rate = hidden, epochs, batch, rate

    def fit(self, x: NDArray[Any], y: NDArray[Any]) -> TorchMLP:
        """Minibatches in a new random order in each epoch."""
        torch.manual_seed(0)
        self.classes_, number = np.unique(y, return_inverse=True)
        rows, target = torch.from_numpy(np.ascontiguousarray(x, np.float32)), torch.from_numpy(number)
        self.module = nn.Sequential(
            nn.Linear(rows.shape[1], self.hidden), nn.ReLU(), nn.Linear(self.hidden, self.hidden), nn.ReLU(),
            nn.Linear(self.hidden, len(self.classes_)),
        )  # fmt: skip
        optimizer, loss = torch.optim.AdamW(self.module.parameters(), lr=self.rate), nn.CrossEntropyLoss()
        steps = self.epochs * -(-len(rows) // self.batch)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, self.rate, total_steps=steps)
        for _ in range(self.epochs):
            for part in torch.randperm(len(rows)).split(self.batch):
                optimizer.zero_grad()
                loss(self.module(rows[part]), target[part]).backward()
                optimizer.step()
                schedule.step()
        return self

    def predict(self, x: NDArray[Any]) -> NDArray[Any]:
        """The class with the largest output."""
        with torch.inference_mode():
            rows = torch.from_numpy(np.ascontiguousarray(x, np.float32))
            best = [self.module(chunk).argmax(1) for chunk in rows.split(4096)]
        return self.classes_[torch.cat(best).numpy()]
