"""Renders channels, deliveries and exams as the OpenAPI document's schemas describe them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from monitoring.backends.pages import Page
from monitoring.contract.cursors import PagedList, next_cursor
from monitoring.contract.document import Json
from monitoring.contract.timestamps import write_timestamp
from monitoring.notifications.configuration import configuration_of
from monitoring.notifications.models import (
    EMAIL,
    WEBHOOK,
    DeliveryStatus,
    NotificationChannel,
    NotificationDelivery,
    ReceiverExam,
)
from monitoring.notifications.secrets import read_secret


def represent_channel(channel: NotificationChannel) -> dict[str, Any]:
    """Render a channel as the schema `NotificationChannel` describes it."""
    confirmed = {"confirmed_at": write_timestamp(channel.confirmed_at)} if channel.type == EMAIL else {}
    return {
        "id": str(channel.id),
        "key": channel.key,
        **configuration_of(channel),
        **confirmed,
        "disabled_reason": channel.disabled_reason,
        "created_at": write_timestamp(channel.created_at),
        "updated_at": write_timestamp(channel.updated_at),
    }


def represent_created_channel(channel: NotificationChannel) -> dict[str, Any]:
    """Render a new channel as the schema `NotificationChannelCreated` describes it.

    Only this response contains a webhook's secret.
    """
    shown = represent_channel(channel)
    return {**shown, "secret": read_secret(channel)} if channel.type == WEBHOOK else shown


def represent_channels(page: Page[NotificationChannel]) -> dict[str, Any]:
    """Render a page of channels as the schema `NotificationChannelList` describes it."""
    return {
        "notification_channels": [represent_channel(channel) for channel in page.rows],
        "next_cursor": next_cursor(PagedList.NOTIFICATION_CHANNELS, page.continues_after),
    }


def represent_delivery(delivery: NotificationDelivery, kept_request: Json = None) -> dict[str, Any]:
    """Render a delivery as the schema `NotificationDelivery` describes it.

    `kept_request` is the request that a sandbox stored instead of sending.
    """
    is_pending = delivery.status == DeliveryStatus.PENDING
    return {
        "id": str(delivery.id),
        "event": delivery.event,
        "status": delivery.status,
        "attempts": delivery.attempts,
        "status_code": delivery.status_code,
        "error_message": delivery.error_message,
        "created_at": write_timestamp(delivery.created_at),
        "next_attempt_at": write_timestamp(delivery.due_at) if is_pending else None,
        "delivered_at": write_timestamp(delivery.delivered_at),
        **({"kept_request": kept_request} if kept_request else {}),
    }


def represent_exam(exam: ReceiverExam) -> dict[str, Any]:
    """Render an exam as the schema `ReceiverExam` describes it."""
    results = exam.results
    return {
        "id": str(exam.id),
        "status": "pending" if results is None else "finished",
        "passed": None if results is None else all(each["verdict"] == "right" for each in results),
        "results": results or [],
        "created_at": write_timestamp(exam.created_at),
    }


def represent_deliveries(
    page: Page[NotificationDelivery], kept_requests: Mapping[UUID, Json]
) -> dict[str, Any]:
    """Render a page of deliveries as the schema `NotificationDeliveryList` describes it."""
    return {
        "deliveries": [represent_delivery(each, kept_requests.get(each.id)) for each in page.rows],
        "next_cursor": next_cursor(PagedList.NOTIFICATION_DELIVERIES, page.continues_after),
    }
