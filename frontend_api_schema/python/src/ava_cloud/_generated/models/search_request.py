from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.fusion import Fusion, check_fusion
from ..models.search_mode import SearchMode, check_search_mode
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.search_request_views import SearchRequestViews


T = TypeVar("T", bound="SearchRequest")


@_attrs_define
class SearchRequest:
    """A query over videos, a collection, or everything: without a scope, every video that the key may read.

    Attributes:
        query (str): What to look for, in your own words. Words in "quotation marks" must be said, written or described
            exactly so.
        video_ids (list[str] | Unset): Videos to read. Give either these or a collection.
        collection_id (str | Unset): Collection to read, with the videos that it has now.
        start_ms (int | None | Unset): Begin of the span to read in each video, in milliseconds. By default the video's
            begin.
        end_ms (int | None | Unset): End of the span to read in each video, in milliseconds. By default the video's end.
        mode (SearchMode | Unset):
        limit (int | Unset): Maximum number of results. By default `16`.
        min_score (float | Unset): Minimum score of a result. By default 0.6; 0 if scores are not calibrated. With 0 the
            search returns what comes nearest, whether it fits or not.
        views (SearchRequestViews | Unset): Weights from 0 to 10 of the views event, entity, frame, transcript, topic,
            words, name, title, object, graph; 0 leaves a view out. By default in `semantic` event 1, entity 0.1, frame 1,
            transcript 0.5, topic 0.25, graph 0.1; in `words` words 1, name 0.5, title 0.25, object 0.25; in `hybrid` event
            1, frame 1, transcript 0.5, words 0.3, name 0.1, title 0.05, object 0.05. A search that names something by its
            letters, such as a plate, gives words more weight in `hybrid`. A search for `objects` has no views.
        fusion (Fusion | Unset):
    """

    query: str
    video_ids: list[str] | Unset = UNSET
    collection_id: str | Unset = UNSET
    start_ms: int | None | Unset = UNSET
    end_ms: int | None | Unset = UNSET
    mode: SearchMode | Unset = UNSET
    limit: int | Unset = UNSET
    min_score: float | Unset = UNSET
    views: SearchRequestViews | Unset = UNSET
    fusion: Fusion | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        query = self.query

        video_ids: list[str] | Unset = UNSET
        if not isinstance(self.video_ids, Unset):
            video_ids = self.video_ids

        collection_id = self.collection_id

        start_ms: int | None | Unset
        if isinstance(self.start_ms, Unset):
            start_ms = UNSET
        else:
            start_ms = self.start_ms

        end_ms: int | None | Unset
        if isinstance(self.end_ms, Unset):
            end_ms = UNSET
        else:
            end_ms = self.end_ms

        mode: str | Unset = UNSET
        if not isinstance(self.mode, Unset):
            mode = self.mode

        limit = self.limit

        min_score = self.min_score

        views: dict[str, Any] | Unset = UNSET
        if not isinstance(self.views, Unset):
            views = self.views.to_dict()

        fusion: str | Unset = UNSET
        if not isinstance(self.fusion, Unset):
            fusion = self.fusion

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "query": query,
            }
        )
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if collection_id is not UNSET:
            field_dict["collection_id"] = collection_id
        if start_ms is not UNSET:
            field_dict["start_ms"] = start_ms
        if end_ms is not UNSET:
            field_dict["end_ms"] = end_ms
        if mode is not UNSET:
            field_dict["mode"] = mode
        if limit is not UNSET:
            field_dict["limit"] = limit
        if min_score is not UNSET:
            field_dict["min_score"] = min_score
        if views is not UNSET:
            field_dict["views"] = views
        if fusion is not UNSET:
            field_dict["fusion"] = fusion

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.search_request_views import SearchRequestViews  # noqa: PLC0415

        d = dict(src_dict)
        query = d.pop("query")

        video_ids = cast(list[str], d.pop("video_ids", UNSET))

        collection_id = d.pop("collection_id", UNSET)

        def _parse_start_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        start_ms = _parse_start_ms(d.pop("start_ms", UNSET))

        def _parse_end_ms(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        end_ms = _parse_end_ms(d.pop("end_ms", UNSET))

        _mode = d.pop("mode", UNSET)
        mode: SearchMode | Unset
        if isinstance(_mode, Unset):
            mode = UNSET
        else:
            mode = check_search_mode(_mode)

        limit = d.pop("limit", UNSET)

        min_score = d.pop("min_score", UNSET)

        _views = d.pop("views", UNSET)
        views: SearchRequestViews | Unset
        if isinstance(_views, Unset):
            views = UNSET
        else:
            views = SearchRequestViews.from_dict(_views)

        _fusion = d.pop("fusion", UNSET)
        fusion: Fusion | Unset
        if isinstance(_fusion, Unset):
            fusion = UNSET
        else:
            fusion = check_fusion(_fusion)

        search_request = cls(
            query=query,
            video_ids=video_ids,
            collection_id=collection_id,
            start_ms=start_ms,
            end_ms=end_ms,
            mode=mode,
            limit=limit,
            min_score=min_score,
            views=views,
            fusion=fusion,
        )

        search_request.additional_properties = d
        return search_request

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
