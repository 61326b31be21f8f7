"""Channels: the ways in which notifications leave. Each is one file, registered here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.notifications.channels import webhook

if TYPE_CHECKING:
    from collections.abc import Mapping

    from monitoring.notifications.channels.protocol import Channel

CHANNELS: Mapping[str, Channel] = {"webhook": webhook}
