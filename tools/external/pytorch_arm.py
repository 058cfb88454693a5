#!/usr/bin/env python3
"""The arm external:pytorch: trains the same model on the same inputs in PyTorch, as a directional row beside the arms.

usage: pytorch_arm.py [--device auto|cpu|cuda] [--trainer assay-native-arm] [CONFIG]
  CONFIG is one arm-config text (protocols/schemas/arm-config.schema.json); without it, standard input is read to its end.
  Speaks protocols/schemas/arm-event.schema.json as JSON lines on standard output. Initial weights and batches are
  dumped by the trainer itself (`assay-native-arm --dump`), so that the digests and the losses can be compared.
  Precision is f32 throughout: TF32 is off. Needs torch 2.0 or newer.
exit: 0 after the last event, 1 after an error event.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

STEPS_INTERVAL_S = 0.25
LEARNING_RATE, BETA1, BETA2, EPSILON, DECAY = 3e-4, 0.9, 0.95, 1e-8, 0.1


class ArmFailure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Events:
    """Writes one event a line, numbered from 0."""

    def __init__(self):
        self.sequence = 0

    def send(self, event, **fields):
        print(json.dumps({"event": event, "sequence": self.sequence, **fields}, allow_nan=False), flush=True)
        self.sequence += 1


def dump_inputs(trainer, config, folder):
    """Has the trainer write weights.f32, batches.i32 and tensors.json; returns the last of them."""
    command = [trainer, "--dump", str(folder)]
    done = subprocess.run(command, input=json.dumps({**config, "arm": "native"}), text=True, capture_output=True, check=False)
    if done.returncode != 0:
        try:
            failure = json.loads(done.stdout.splitlines()[-1])
            raise ArmFailure(failure["code"], failure["message"])
        except (IndexError, KeyError, json.JSONDecodeError):
            raise ArmFailure("internal", f"{trainer} ended with {done.returncode}: {done.stderr[-300:]}") from None
    return json.loads((folder / "tensors.json").read_text(encoding="utf-8"))


class Model:
    """The byte-level GPT over a dictionary of tensors, and its AdamW with the trainer's own clipping."""

    def __init__(self, torch, config, inputs, folder, device):
        self.torch, self.device, self.shape = torch, device, config["model"]
        flat = torch.frombuffer(bytearray((folder / "weights.f32").read_bytes()), dtype=torch.float32)
        batches = torch.frombuffer(bytearray((folder / "batches.i32").read_bytes()), dtype=torch.int32)
        self.batches = batches.view(-1, 2, self.shape["batch"], self.shape["ctx"])
        if device.type == "cuda":
            self.batches = self.batches.pin_memory()
        self.initial = {}
        for tensor in inputs["tensors"]:
            values = flat[tensor["offset"] : tensor["offset"] + tensor["size"]]
            self.initial[tensor["name"]] = values.view(self.shape_of(tensor["name"])).to(device)
        self.decays = {tensor["name"] for tensor in inputs["tensors"] if tensor["decays"]}
        self.reset()

    def shape_of(self, name):
        d = self.shape["d_model"]
        rows, columns = {
            "wte": (256, d), "wpe": (self.shape["ctx"], d), "qkv.weight": (d, 3 * d), "proj.weight": (d, d),
            "fc.weight": (d, 4 * d), "fcproj.weight": (4 * d, d),
        }.get(name.split(".", 1)[1] if name.startswith("layer") else name, (1, -1))
        return (rows, columns) if rows > 1 else (columns,)

    def reset(self):
        torch = self.torch
        self.weights = {name: value.clone().requires_grad_(True) for name, value in self.initial.items()}
        groups = [
            {"params": [w for name, w in self.weights.items() if name in self.decays], "weight_decay": DECAY},
            {"params": [w for name, w in self.weights.items() if name not in self.decays], "weight_decay": 0.0},
        ]
        fused = {"fused": True} if self.device.type == "cuda" else {}
        self.optimizer = torch.optim.AdamW(groups, lr=LEARNING_RATE, betas=(BETA1, BETA2), eps=EPSILON, **fused)
        self.index = 0

    def loss(self, tokens, targets):
        functional, w = self.torch.nn.functional, self.weights
        d, heads = self.shape["d_model"], self.shape["heads"]
        batch, ctx = tokens.shape
        x = w["wte"][tokens] + w["wpe"]
        for layer in range(self.shape["layers"]):
            p = f"layer{layer}."
            h = functional.layer_norm(x, (d,), w[p + "ln1.gain"], w[p + "ln1.bias"], 1e-5)
            qkv = h @ w[p + "qkv.weight"] + w[p + "qkv.bias"]
            q, k, v = (part.view(batch, ctx, heads, d // heads).transpose(1, 2) for part in qkv.split(d, dim=2))
            attention = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            attention = attention.transpose(1, 2).reshape(batch, ctx, d)
            x = x + attention @ w[p + "proj.weight"] + w[p + "proj.bias"]
            h = functional.layer_norm(x, (d,), w[p + "ln2.gain"], w[p + "ln2.bias"], 1e-5)
            h = functional.gelu(h @ w[p + "fc.weight"] + w[p + "fc.bias"], approximate="tanh")
            x = x + h @ w[p + "fcproj.weight"] + w[p + "fcproj.bias"]
        x = functional.layer_norm(x, (d,), w["lnf.gain"], w["lnf.bias"], 1e-5)
        logits = x @ w["wte"].T
        return functional.cross_entropy(logits.view(-1, 256), targets.reshape(-1))

    def step(self):
        """Upload, forward, loss, backward, clip, update; returns when the loss is here and the update has finished."""
        torch = self.torch
        batch = self.batches[self.index % len(self.batches)].to(self.device, non_blocking=True).long()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(batch[0], batch[1])
        loss.backward()
        gradients = [weight.grad for weight in self.weights.values()]
        norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in gradients]))
        scale = torch.clamp(1.0 / norm, max=1.0)
        for gradient in gradients:
            gradient.mul_(scale)
        self.optimizer.step()
        self.index += 1
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return loss.item()


def run_phase(events, model, phase, steps):
    wall_ms, losses, first, sent = [], [], 0, time.perf_counter()

    def flush():
        nonlocal wall_ms, losses, first, sent
        if wall_ms:
            events.send("steps", phase=phase, first=first, wall_ms=wall_ms, loss=losses)
        first, wall_ms, losses, sent = first + len(wall_ms), [], [], time.perf_counter()

    for _ in range(steps):
        begin = time.perf_counter()
        loss = model.step()
        taken = (time.perf_counter() - begin) * 1e3
        if loss != loss or loss in (float("inf"), float("-inf")):
            raise ArmFailure("not-finite", f"step {first + len(losses) + 1} of {phase} gave loss {loss}")
        wall_ms.append(taken)
        losses.append(loss)
        if time.perf_counter() - sent >= STEPS_INTERVAL_S:
            flush()
    flush()
    events.send("done", phase=phase, steps=steps)


def run(events, options):
    text = options.config if options.config is not None else sys.stdin.read()
    try:
        config = json.loads(text)
        threads, steps, warmup = config["threads"], config["steps"], config["warmup"]
    except (json.JSONDecodeError, KeyError, TypeError) as cause:
        raise ArmFailure("bad-config", f"the configuration cannot be read: {cause}") from None
    begin = time.perf_counter()
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as cause:
        raise ArmFailure("unsupported", f"PyTorch is not installed: {cause}") from None
    imported_ms = (time.perf_counter() - begin) * 1e3
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_num_threads(threads)
    wanted = options.device if options.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    device = torch.device(wanted)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        begin = time.perf_counter()
        # Timed steps use batches 0, 1, ...; a long warm-up goes round again, and is thrown away.
        inputs = dump_inputs(options.trainer, config, folder)
        dumped_ms = (time.perf_counter() - begin) * 1e3
        begin = time.perf_counter()
        model = Model(torch, config, inputs, folder, device)
        model_ms = (time.perf_counter() - begin) * 1e3
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    events.send(
        "prepared",
        arm=config.get("arm", "external:pytorch"),
        threads=threads,
        weights_sha256=inputs["weights_sha256"],
        batches_sha256=inputs["batches_sha256"],
        corpus_sha256=inputs["corpus_sha256"],
        parameters=sum(w.numel() for w in model.weights.values()),
        cold_start={"import": imported_ms, "inputs": dumped_ms, "model": model_ms},
        wait="torch.cuda.synchronize" if device.type == "cuda" else "synchronous",
        variant={"runtime": "PyTorch " + torch.__version__, "device": where, "tf32": False},
    )
    run_phase(events, model, "warmup", warmup)
    model.reset()
    run_phase(events, model, "measure", steps)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config", nargs="?")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    beside = pathlib.Path(__file__).resolve().parent / "assay-native-arm"
    found = str(beside) if beside.exists() else shutil.which("assay-native-arm") or "assay-native-arm"
    parser.add_argument("--trainer", default=os.environ.get("ASSAY_NATIVE_ARM", found))
    options = parser.parse_args()
    events = Events()
    events.send("ready", arms=["external:pytorch"])
    try:
        run(events, options)
    except ArmFailure as failure:
        events.send("error", code=failure.code, message=str(failure))
        sys.exit(1)
    except Exception as failure:  # the contract's last word on anything unforeseen
        memory = "out of memory" in str(failure).lower()
        events.send("error", code="out-of-memory" if memory else "internal", message=f"{type(failure).__name__}: {failure}"[:500])
        sys.exit(1)


main()
