"""What both sides of one app session have said so far. The two judges (app_side, coordinator_side) read and write it."""
from __future__ import annotations

import bisect
from collections import deque
from typing import Deque, Dict, List, NamedTuple, Optional, Set


class Asked(NamedTuple):
    """A checkpoint that a mark has asked for: not before `earliest`, and not behind the boundary at or behind `latest` (P5.8)."""

    mark: int
    earliest: int
    latest: Optional[int]
    time_us: int


class Session:
    """The facts of a session: positions, marks, what was asked, and who the instance is."""

    def __init__(self) -> None:
        self.instance = ""
        self.replica = ""
        self.epoch = 0
        self.limit = 64 << 20
        self.is_welcomed = False
        self.has_hello = False
        # A build that was stated, whose methods have not come yet (P5.23).
        self.owes_methods = False
        self.is_over = False
        self.is_in_image = False
        # Positions (Lsns): where delivery began, the end of what was delivered, and what the app has reported.
        self.begin = 0
        self.delivered = 0
        self.reported = 0
        self.boundaries: List[int] = []
        self.largest_record = 0
        # Positions that have to be reported exactly, in their order: marks of frames and the ends of Forget records (P5.6).
        self.exact: Deque[int] = deque()
        # Marks that ask this app for a checkpoint and have none yet, in their order.
        self.asked: List[Asked] = []
        self.page_time_us = 0
        self.primary_at: Optional[int] = None
        self.is_primary_ready = False
        self.origins: Dict[int, str] = {}
        self.queries: Set[int] = set()
        self.forgotten: Set[str] = set()
        # Of a view (P5.24): whether it is one, whether it was told where to stop, and whether it has stopped.
        self.is_view = self.is_looking = self.is_stopped = False
        # Images that are no checkpoints, and conversions that were asked for (P5.24, P5.25).
        self.images_owed = 0
        self.conversions: List[int] = []

    def due(self, asked: Asked) -> Optional[int]:
        """The last boundary at which the checkpoint of a mark may be taken, if it has been delivered and the mark has a bound."""
        return None if asked.latest is None else self.boundary_from(max(asked.latest, asked.earliest))

    def boundary_from(self, position: int) -> Optional[int]:
        """The first record boundary at or behind a position, if it has been delivered."""
        at = bisect.bisect_left(self.boundaries, position)
        return self.boundaries[at] if at < len(self.boundaries) else None
