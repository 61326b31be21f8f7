"""Tortoise's lists of columns, built once for each kind of database.

Opening a database empties these lists and fills them again. A process of the service opens one before it
reads any row, but a process of tests runs several services in threads: one that reads a row while another one
starts would get an object without some of its attributes. Building the lists once also saves time in each
test.
"""

from __future__ import annotations

from tortoise.models import MetaInfo


def build_once() -> None:
    """Build a model's lists again only for another kind of database, or for further relations."""
    build = MetaInfo.finalise_model
    built: dict[MetaInfo, tuple[type, int]] = {}

    def build_if_changed(meta: MetaInfo) -> None:
        state = meta.db.executor_class, len(meta.fields_map)
        if built.get(meta) != state:
            build(meta)
            built[meta] = state

    MetaInfo.finalise_model = build_if_changed  # type: ignore[assignment, method-assign]
