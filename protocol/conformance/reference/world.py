"""What the session of an instance holds beside the probe's state (docs/image.md, I2), and both as an image."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from encoding import Undecodable, pack, unpack
from faults import has
from flows import Flow

FORMAT, VERSION = "conformance-reference", 1
DAY_US = 86_400_000_000


class World:
    """Everything of the past that an instance needs in order to go on. Place is (lsn, index) of a message in the log."""

    def __init__(self) -> None:
        self.origins: List[Optional[str]] = []
        self.next_call = self.next_timer = self.next_task = self.next_flow = 1
        self.calls: Dict[int, List[Any]] = {}
        self.timers: Dict[int, List[int]] = {}
        self.tasks: Dict[int, List[Any]] = {}
        self.flows: Dict[int, Flow] = {}
        self.beat = 0
        self.now = self.key_time = 0
        self.policy = 0
        self.window_limits = [DAY_US, 100_000, 64 << 20]
        # Keyed calls by (method, key): [hash of arguments, status or None, answer, time of keys, askers].
        self.window: Dict[Tuple[int, bytes], List[Any]] = {}
        self.decisions = self.met = 0
        # Messages set aside by place: [decision, kind, caller, method, arguments, tries, time, why].
        self.aside: Dict[Tuple[int, int], List[Any]] = {}

    def save(self, probe: List[Any]) -> bytes:
        """The image."""
        window = [[method, key, *row] for (method, key), row in self.window.items()]
        answered = [row for row in window if row[3] is not None]
        under_way = sorted(row for row in window if row[3] is None)
        fields: Dict[str, Any] = {
            "probe": probe, "origins": self.origins, "calls": [self.next_call, [[n, *row] for n, row in sorted(self.calls.items())]],
            "timers": [self.next_timer, [[n, *row] for n, row in sorted(self.timers.items())]], "beat": self.beat,
            "tasks": [self.next_task, [[n, *row] for n, row in sorted(self.tasks.items())]],
            "flows": [self.next_flow, [flow.save() for _, flow in sorted(self.flows.items())]], "time": [self.now, self.key_time],
            "policy": self.policy, "limits": self.window_limits, "window": answered + under_way,
            "quarantine": [self.decisions, self.met, [[*place, *row] for place, row in sorted(self.aside.items())]]}
        for fault, field, value in (("image-without-origins", "origins", []), ("image-without-window", "window", []), ("image-without-policy", "policy", 0),
                                    ("image-without-time", "time", [0, 0]), ("image-without-flows", "flows", [1, []]), ("image-without-timers", "timers", [1, []])):
            if has(fault):
                fields[field] = value
        if has("image-without-next-call"):
            fields["calls"][0] = 1
        if has("image-without-quarantine"):
            fields["quarantine"] = [0, 0, []]
        return pack([FORMAT, VERSION, fields]) if not has("image-without-format") else pack(fields)

    def restore(self, host: Any, image: bytes) -> List[Any]:
        """Takes everything from an image and gives the probe's part; ValueError if this is none of ours (I1.3)."""
        try:
            whole, _ = unpack(image)
            name, version, fields = whole
        except (Undecodable, TypeError, ValueError):
            raise ValueError("the image cannot be read") from None
        if (name, version) != (FORMAT, VERSION) and not has("other-format-accepted"):
            raise ValueError(f"the image is of the format {name} {version}, and this app reads {FORMAT} {VERSION}")
        self.origins = fields["origins"]
        self.next_call, calls = fields["calls"]
        self.next_timer, timers = fields["timers"]
        self.next_task, tasks = fields["tasks"]
        self.calls, self.timers, self.tasks = ({row[0]: row[1:] for row in rows} for rows in (calls, timers, tasks))
        self.beat, self.policy, self.window_limits = fields["beat"], fields["policy"], fields["limits"]
        self.now, self.key_time = fields["time"]
        self.window = {(row[0], row[1]): row[2:] for row in fields["window"]}
        self.decisions, self.met, aside = fields["quarantine"]
        self.aside = {(row[0], row[1]): row[2:] for row in aside}
        self.next_flow, flows = fields["flows"]
        for row in flows:
            self.flows[row[0]] = Flow.restore(host, row)
        return fields["probe"]
