from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.charge import Charge
    from ..models.model_usage import ModelUsage
    from ..models.resource_error import ResourceError
    from ..models.search_summary_timings_type_0 import SearchSummaryTimingsType0
    from ..models.search_summary_views import SearchSummaryViews


T = TypeVar("T", bound="SearchSummary")


@_attrs_define
class SearchSummary:
    """A search without its results.

    Attributes:
        id (str): Id of the search.
        object_ (str): Always `search`. Default: 'search'.
        status (str): `queued` and `running` searches are open; the others have their outcome. Known values: `queued`,
            `running`, `succeeded`, `failed`, `canceled`. Others may follow.
        query (str): The query.
        video_ids (list[str]): Videos of the scope that still exist.
        start_ms (int | None): Begin of the span that is read in each video.
        end_ms (int | None): End of the span that is read in each video.
        limit (int): Maximum number of results.
        min_score (float | None): Minimum score of a result; null while the search is open and the request named none.
        calibrated (bool | None): Whether scores are measured chances. `false` if the scores of this installation's
            embedder, or of a view that the search uses, were never measured: scores then are similarities, and compare only
            within one search. Null while the search is open.
        mode (str): How the search looks for events, or that it ranks objects. Known values: `semantic`, `words`,
            `hybrid`, `objects`. Others may follow.
        compared_by (None | str): What a search for `objects` compared the query with: `pictures` of the objects, if the
            frame embedder of this installation reads any words, or else `words`, which are the objects' names and the
            descriptions of the events in which they are seen. Null for other modes, and while the search is open. Known
            values: `pictures`, `words`. Others may follow.
        views (SearchSummaryViews): Weight of each view; empty for `objects`.
        fusion (None | str): How the rankings of the views are combined; null for `objects`. Known values: `contrast`,
            `borda`, `rrf`, `sum`. Others may follow.
        result_count (int): Number of results.
        degraded (list[str]): What the search had to do without: `query_language` if the model that searches by meaning
            is not known to understand the language of the query, so that a query in English may find more; `no_reranking`
            if the reranker failed and the results keep the order of the views; `too_many_objects` if the scope has more
            tracked objects than were compared.
        usage (ModelUsage | None): What the search consumed; null while it is open.
        charge (Charge): What is charged, by the price list. Allowances, tiers, credits and tax are lines of the
            invoice.
        timings (None | SearchSummaryTimingsType0): Durations in milliseconds: `queue_ms`, `retrieval_ms`, `total_ms`.
        error (None | ResourceError): Why the search failed; null if it did not.
        created_at (datetime.datetime): When the search was requested.
        completed_at (datetime.datetime | None): When the search got its outcome.
    """

    id: str
    status: str
    query: str
    video_ids: list[str]
    start_ms: int | None
    end_ms: int | None
    limit: int
    min_score: float | None
    calibrated: bool | None
    mode: str
    compared_by: None | str
    views: SearchSummaryViews
    fusion: None | str
    result_count: int
    degraded: list[str]
    usage: ModelUsage | None
    charge: Charge
    timings: None | SearchSummaryTimingsType0
    error: None | ResourceError
    created_at: datetime.datetime
    completed_at: datetime.datetime | None
    object_: str = "search"
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.model_usage import ModelUsage  # noqa: PLC0415
        from ..models.resource_error import ResourceError  # noqa: PLC0415
        from ..models.search_summary_timings_type_0 import SearchSummaryTimingsType0  # noqa: PLC0415

        id = self.id

        object_ = self.object_

        status = self.status

        query = self.query

        video_ids = self.video_ids

        start_ms: int | None
        start_ms = self.start_ms

        end_ms: int | None
        end_ms = self.end_ms

        limit = self.limit

        min_score: float | None
        min_score = self.min_score

        calibrated: bool | None
        calibrated = self.calibrated

        mode = self.mode

        compared_by: None | str
        compared_by = self.compared_by

        views = self.views.to_dict()

        fusion: None | str
        fusion = self.fusion

        result_count = self.result_count

        degraded = self.degraded

        usage: dict[str, Any] | None
        if isinstance(self.usage, ModelUsage):
            usage = self.usage.to_dict()
        else:
            usage = self.usage

        charge = self.charge.to_dict()

        timings: dict[str, Any] | None
        if isinstance(self.timings, SearchSummaryTimingsType0):
            timings = self.timings.to_dict()
        else:
            timings = self.timings

        error: dict[str, Any] | None
        if isinstance(self.error, ResourceError):
            error = self.error.to_dict()
        else:
            error = self.error

        created_at = self.created_at.isoformat()

        completed_at: None | str
        if isinstance(self.completed_at, datetime.datetime):
            completed_at = self.completed_at.isoformat()
        else:
            completed_at = self.completed_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "object": object_,
                "status": status,
                "query": query,
                "video_ids": video_ids,
                "start_ms": start_ms,
                "end_ms": end_ms,
                "limit": limit,
                "min_score": min_score,
                "calibrated": calibrated,
                "mode": mode,
                "compared_by": compared_by,
                "views": views,
                "fusion": fusion,
                "result_count": result_count,
                "degraded": degraded,
                "usage": usage,
                "charge": charge,
                "timings": timings,
                "error": error,
                "created_at": created_at,
                "completed_at": completed_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.charge import Charge  # noqa: PLC0415
        from ..models.model_usage import ModelUsage  # noqa: PLC0415
        from ..models.resource_error import ResourceError  # noqa: PLC0415
        from ..models.search_summary_timings_type_0 import SearchSummaryTimingsType0  # noqa: PLC0415
        from ..models.search_summary_views import SearchSummaryViews  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        object_ = d.pop("object")

        status = d.pop("status")

        query = d.pop("query")

        video_ids = cast(list[str], d.pop("video_ids"))

        def _parse_start_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        start_ms = _parse_start_ms(d.pop("start_ms"))

        def _parse_end_ms(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        end_ms = _parse_end_ms(d.pop("end_ms"))

        limit = d.pop("limit")

        def _parse_min_score(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        min_score = _parse_min_score(d.pop("min_score"))

        def _parse_calibrated(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        calibrated = _parse_calibrated(d.pop("calibrated"))

        mode = d.pop("mode")

        def _parse_compared_by(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        compared_by = _parse_compared_by(d.pop("compared_by"))

        views = SearchSummaryViews.from_dict(d.pop("views"))

        def _parse_fusion(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        fusion = _parse_fusion(d.pop("fusion"))

        result_count = d.pop("result_count")

        degraded = cast(list[str], d.pop("degraded"))

        def _parse_usage(data: object) -> ModelUsage | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                usage_type_0 = ModelUsage.from_dict(data)

                return usage_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ModelUsage | None, data)

        usage = _parse_usage(d.pop("usage"))

        charge = Charge.from_dict(d.pop("charge"))

        def _parse_timings(data: object) -> None | SearchSummaryTimingsType0:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                timings_type_0 = SearchSummaryTimingsType0.from_dict(data)

                return timings_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SearchSummaryTimingsType0, data)

        timings = _parse_timings(d.pop("timings"))

        def _parse_error(data: object) -> None | ResourceError:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = ResourceError.from_dict(data)

                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ResourceError, data)

        error = _parse_error(d.pop("error"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_completed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                completed_at_type_0 = datetime.datetime.fromisoformat(data)

                return completed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        completed_at = _parse_completed_at(d.pop("completed_at"))

        search_summary = cls(
            id=id,
            object_=object_,
            status=status,
            query=query,
            video_ids=video_ids,
            start_ms=start_ms,
            end_ms=end_ms,
            limit=limit,
            min_score=min_score,
            calibrated=calibrated,
            mode=mode,
            compared_by=compared_by,
            views=views,
            fusion=fusion,
            result_count=result_count,
            degraded=degraded,
            usage=usage,
            charge=charge,
            timings=timings,
            error=error,
            created_at=created_at,
            completed_at=completed_at,
        )

        search_summary.additional_properties = d
        return search_summary

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
