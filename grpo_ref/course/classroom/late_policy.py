"""The penalty for late submissions: how many points a day of delay costs."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Late:
    """The rules for late submissions.

    Attributes:
      per_day: fraction of the points that is lost for every day that has begun.
      days: number of days after which a submission gets no points.
      grace: time after the deadline that does not count as late.
    """

    per_day: float = 0.0
    days: float = math.inf
    grace: timedelta = timedelta(0)

    def days_late(self, submitted: datetime, deadline: datetime) -> int:
        """Return how many days after the deadline have begun.

        >>> from datetime import datetime, timedelta, timezone
        >>> noon = datetime(2027, 3, 1, 12, tzinfo=timezone.utc)
        >>> [Late().days_late(noon + timedelta(hours=h), noon) for h in (-1, 0, 1, 25)]
        [0, 0, 1, 2]
        """
        over = submitted - deadline - self.grace
        return max(0, math.ceil(over / timedelta(days=1)))

    def share(self, days: int) -> float:
        """Return the fraction of the points that is left after this many days.

        >>> Late(per_day=0.1, days=3).share(2), Late(per_day=0.1, days=3).share(4)
        (0.8, 0.0)
        """
        return max(0.0, 1.0 - self.per_day * days) if days <= self.days else 0.0
