"""Contains all the data models used in inputs/outputs"""

from .allowed_origins import AllowedOrigins
from .allowed_origins_request import AllowedOriginsRequest
from .api_key import ApiKey
from .api_key_page import ApiKeyPage
from .api_key_request import ApiKeyRequest
from .api_key_rotation_request import ApiKeyRotationRequest
from .api_key_update_request import ApiKeyUpdateRequest
from .api_key_with_secret import ApiKeyWithSecret
from .appearance import Appearance
from .arm_charge import ArmCharge
from .arm_confidence import ArmConfidence
from .arm_figures import ArmFigures
from .arm_figures_by_kind import ArmFiguresByKind
from .arm_figures_degraded import ArmFiguresDegraded
from .arm_figures_graded_by import ArmFiguresGradedBy
from .arm_result import ArmResult
from .audio_track import AudioTrack
from .audit_actor import AuditActor
from .audit_event import AuditEvent
from .audit_event_details import AuditEventDetails
from .audit_event_page import AuditEventPage
from .batch_counts import BatchCounts
from .batch_question_request import BatchQuestionRequest
from .batch_question_request_metadata import BatchQuestionRequestMetadata
from .batch_usage import BatchUsage
from .billing_account import BillingAccount
from .billing_account_request import BillingAccountRequest
from .budget import Budget
from .budget_left import BudgetLeft
from .budget_request import BudgetRequest
from .budget_used import BudgetUsed
from .candidate import Candidate
from .changed_event import ChangedEvent
from .charge import Charge
from .charge_span import ChargeSpan
from .check_mode import CheckMode
from .chunk import Chunk
from .chunk_page import ChunkPage
from .claim import Claim
from .clip import Clip
from .clip_captions import ClipCaptions
from .clip_gap import ClipGap
from .clip_mode import ClipMode
from .clip_page import ClipPage
from .clip_request import ClipRequest
from .clock_period import ClockPeriod
from .clock_stretch import ClockStretch
from .collection import Collection
from .collection_page import CollectionPage
from .collection_request import CollectionRequest
from .collection_update_request import CollectionUpdateRequest
from .comparison import Comparison
from .comparison_arm import ComparisonArm
from .comparison_arm_request import ComparisonArmRequest
from .comparison_counts import ComparisonCounts
from .comparison_item_request import ComparisonItemRequest
from .comparison_metadata import ComparisonMetadata
from .comparison_page import ComparisonPage
from .comparison_report import ComparisonReport
from .comparison_request import ComparisonRequest
from .comparison_request_metadata import ComparisonRequestMetadata
from .comparison_result import ComparisonResult
from .composition import Composition
from .composition_part import CompositionPart
from .contradiction import Contradiction
from .create_question_include import CreateQuestionInclude
from .credit import Credit
from .credit_page import CreditPage
from .derived_text import DerivedText
from .duration_span import DurationSpan
from .effort import Effort
from .empty_reason import EmptyReason
from .entity import Entity
from .entity_page import EntityPage
from .erasure_certificate import ErasureCertificate
from .estimate import Estimate
from .event import Event
from .event_page import EventPage
from .evidence import Evidence
from .export_audit_events_actor_type import ExportAuditEventsActorType
from .export_audit_events_file_type import ExportAuditEventsFileType
from .feedback import Feedback
from .feedback_request import FeedbackRequest
from .found_object import FoundObject
from .frame_image import FrameImage
from .fusion import Fusion
from .gaps import Gaps
from .gaps_codes import GapsCodes
from .get_question_include import GetQuestionInclude
from .get_question_report_format import GetQuestionReportFormat
from .get_timeline_include import GetTimelineInclude
from .get_usage_billable import GetUsageBillable
from .get_usage_meter import GetUsageMeter
from .grading_enum import GradingEnum
from .graph_size import GraphSize
from .highlight import Highlight
from .index_job import IndexJob
from .index_job_error import IndexJobError
from .index_job_page import IndexJobPage
from .index_job_progress import IndexJobProgress
from .index_job_retry_request import IndexJobRetryRequest
from .index_job_update_request import IndexJobUpdateRequest
from .index_size import IndexSize
from .index_version import IndexVersion
from .index_version_page import IndexVersionPage
from .index_version_stages_ms import IndexVersionStagesMs
from .indexing import Indexing
from .inner_moment import InnerMoment
from .input_segment import InputSegment
from .input_segment_page import InputSegmentPage
from .input_segment_request import InputSegmentRequest
from .input_segment_source import InputSegmentSource
from .invitation import Invitation
from .invitation_page import InvitationPage
from .invitation_request import InvitationRequest
from .invitation_with_link import InvitationWithLink
from .invoice import Invoice
from .invoice_line import InvoiceLine
from .invoice_line_page import InvoiceLinePage
from .invoice_page import InvoicePage
from .key_mode import KeyMode
from .kind_arm import KindArm
from .kind_rule import KindRule
from .labeled_span import LabeledSpan
from .labeled_span_request import LabeledSpanRequest
from .limit import Limit
from .line_track import LineTrack
from .linked_entity import LinkedEntity
from .linked_object import LinkedObject
from .list_api_keys_sort import ListApiKeysSort
from .list_audit_events_actor_type import ListAuditEventsActorType
from .list_clips_sort import ListClipsSort
from .list_clips_status import ListClipsStatus
from .list_collections_sort import ListCollectionsSort
from .list_comparisons_sort import ListComparisonsSort
from .list_comparisons_status import ListComparisonsStatus
from .list_index_jobs_sort import ListIndexJobsSort
from .list_invitations_sort import ListInvitationsSort
from .list_invoices_kind import ListInvoicesKind
from .list_invoices_state import ListInvoicesState
from .list_members_sort import ListMembersSort
from .list_question_batches_sort import ListQuestionBatchesSort
from .list_question_batches_status import ListQuestionBatchesStatus
from .list_questions_feedback import ListQuestionsFeedback
from .list_questions_sort import ListQuestionsSort
from .list_questions_status import ListQuestionsStatus
from .list_searches_sort import ListSearchesSort
from .list_searches_status import ListSearchesStatus
from .list_sessions_sort import ListSessionsSort
from .list_shares_sort import ListSharesSort
from .list_uploads_sort import ListUploadsSort
from .list_uploads_status import ListUploadsStatus
from .list_usage_events_billable import ListUsageEventsBillable
from .list_usage_events_meter import ListUsageEventsMeter
from .list_videos_sort import ListVideosSort
from .list_videos_status import ListVideosStatus
from .list_webhook_deliveries_event_type import ListWebhookDeliveriesEventType
from .list_webhook_deliveries_sort import ListWebhookDeliveriesSort
from .list_webhook_deliveries_state import ListWebhookDeliveriesState
from .list_webhook_endpoints_sort import ListWebhookEndpointsSort
from .list_webhook_events_sort import ListWebhookEventsSort
from .list_webhook_events_type import ListWebhookEventsType
from .made_thing import MadeThing
from .made_things import MadeThings
from .me import Me
from .measures import Measures
from .member import Member
from .member_page import MemberPage
from .member_update_request import MemberUpdateRequest
from .method import Method
from .method_list import MethodList
from .method_obstacle import MethodObstacle
from .milliseconds import Milliseconds
from .model_usage import ModelUsage
from .moment import Moment
from .my_tenant import MyTenant
from .new_shared_link import NewSharedLink
from .node import Node
from .node_detail import NodeDetail
from .node_detail_arguments import NodeDetailArguments
from .node_event import NodeEvent
from .node_usage import NodeUsage
from .notice_address import NoticeAddress
from .notice_address_request import NoticeAddressRequest
from .own_budget import OwnBudget
from .own_budget_page import OwnBudgetPage
from .own_budget_request import OwnBudgetRequest
from .pair import Pair
from .pair_groups import PairGroups
from .part_url import PartUrl
from .part_url_headers import PartUrlHeaders
from .part_urls import PartUrls
from .part_urls_request import PartUrlsRequest
from .part_urls_request_checksums import PartUrlsRequestChecksums
from .partial_answer import PartialAnswer
from .partial_event import PartialEvent
from .participant import Participant
from .pinned_video import PinnedVideo
from .playback import Playback
from .playback_segment import PlaybackSegment
from .price import Price
from .price_allowance import PriceAllowance
from .price_list import PriceList
from .price_plan import PricePlan
from .price_tier import PriceTier
from .priority_enum import PriorityEnum
from .probe import Probe
from .problem import Problem
from .problem_errors_item import ProblemErrorsItem
from .profile import Profile
from .progress import Progress
from .progress_event import ProgressEvent
from .question import Question
from .question_batch import QuestionBatch
from .question_batch_finish_reasons import QuestionBatchFinishReasons
from .question_batch_metadata import QuestionBatchMetadata
from .question_batch_page import QuestionBatchPage
from .question_batch_request import QuestionBatchRequest
from .question_batch_request_metadata import QuestionBatchRequestMetadata
from .question_budget import QuestionBudget
from .question_budget_request import QuestionBudgetRequest
from .question_estimate import QuestionEstimate
from .question_estimate_request import QuestionEstimateRequest
from .question_metadata import QuestionMetadata
from .question_method import QuestionMethod
from .question_models import QuestionModels
from .question_page import QuestionPage
from .question_request import QuestionRequest
from .question_request_metadata import QuestionRequestMetadata
from .question_timings_type_0 import QuestionTimingsType0
from .question_update_request import QuestionUpdateRequest
from .received_part import ReceivedPart
from .relation import Relation
from .relation_end import RelationEnd
from .relation_page import RelationPage
from .rendition import Rendition
from .resource_error import ResourceError
from .result_citation import ResultCitation
from .retention import Retention
from .retention_update_request import RetentionUpdateRequest
from .role import Role
from .roles_enum import RolesEnum
from .route_wish import RouteWish
from .scan_estimate import ScanEstimate
from .scope import Scope
from .search import Search
from .search_mode import SearchMode
from .search_page import SearchPage
from .search_reason import SearchReason
from .search_request import SearchRequest
from .search_request_views import SearchRequestViews
from .search_result import SearchResult
from .search_summary import SearchSummary
from .search_summary_timings_type_0 import SearchSummaryTimingsType0
from .search_summary_views import SearchSummaryViews
from .search_timings_type_0 import SearchTimingsType0
from .search_views import SearchViews
from .segments_source_request import SegmentsSourceRequest
from .session import Session
from .session_metadata import SessionMetadata
from .session_page import SessionPage
from .session_request import SessionRequest
from .session_request_metadata import SessionRequestMetadata
from .share import Share
from .share_request import ShareRequest
from .shared_link import SharedLink
from .shared_link_page import SharedLinkPage
from .sign_in_settings import SignInSettings
from .sign_in_settings_oidc_group_roles import SignInSettingsOidcGroupRoles
from .sign_in_settings_request import SignInSettingsRequest
from .sign_in_settings_request_oidc_group_roles import SignInSettingsRequestOidcGroupRoles
from .sign_in_settings_request_oidc_group_roles_additional_property import (
    SignInSettingsRequestOidcGroupRolesAdditionalProperty,
)
from .storage import Storage
from .summary import Summary
from .tenant_erasure import TenantErasure
from .tenant_erasure_begun import TenantErasureBegun
from .tenant_erasure_request import TenantErasureRequest
from .tenant_limits import TenantLimits
from .text_range import TextRange
from .timeline import Timeline
from .timeline_entities import TimelineEntities
from .timeline_events import TimelineEvents
from .timeline_gaps import TimelineGaps
from .timeline_objects import TimelineObjects
from .timeline_speech import TimelineSpeech
from .timeline_topics import TimelineTopics
from .topic import Topic
from .topic_frame import TopicFrame
from .trace_node import TraceNode
from .trace_outcome import TraceOutcome
from .track import Track
from .track_page import TrackPage
from .tracked_object import TrackedObject
from .tracked_object_page import TrackedObjectPage
from .transcript_line import TranscriptLine
from .transcript_line_page import TranscriptLinePage
from .typical_calls import TypicalCalls
from .understood import Understood
from .understood_span import UnderstoodSpan
from .understood_time import UnderstoodTime
from .upload import Upload
from .upload_completion_request import UploadCompletionRequest
from .upload_metadata import UploadMetadata
from .upload_page import UploadPage
from .upload_request import UploadRequest
from .upload_request_metadata import UploadRequestMetadata
from .upload_source_request import UploadSourceRequest
from .upload_summary import UploadSummary
from .upload_summary_metadata import UploadSummaryMetadata
from .uploaded_part_request import UploadedPartRequest
from .url_source_request import UrlSourceRequest
from .usage import Usage
from .usage_charge import UsageCharge
from .usage_event import UsageEvent
from .usage_event_page import UsageEventPage
from .usage_line import UsageLine
from .usage_line_group import UsageLineGroup
from .usage_totals import UsageTotals
from .verdict import Verdict
from .video import Video
from .video_clock import VideoClock
from .video_estimate_request import VideoEstimateRequest
from .video_frame import VideoFrame
from .video_frame_page import VideoFramePage
from .video_metadata import VideoMetadata
from .video_page import VideoPage
from .video_request import VideoRequest
from .video_request_metadata import VideoRequestMetadata
from .video_source import VideoSource
from .video_timings import VideoTimings
from .video_timings_stages_ms import VideoTimingsStagesMs
from .video_update_request import VideoUpdateRequest
from .video_update_request_metadata import VideoUpdateRequestMetadata
from .wall_clock import WallClock
from .webhook_attempt import WebhookAttempt
from .webhook_attempt_page import WebhookAttemptPage
from .webhook_delivery import WebhookDelivery
from .webhook_delivery_page import WebhookDeliveryPage
from .webhook_endpoint import WebhookEndpoint
from .webhook_endpoint_page import WebhookEndpointPage
from .webhook_endpoint_request import WebhookEndpointRequest
from .webhook_endpoint_update_request import WebhookEndpointUpdateRequest
from .webhook_endpoint_with_secret import WebhookEndpointWithSecret
from .webhook_event import WebhookEvent
from .webhook_event_data import WebhookEventData
from .webhook_event_page import WebhookEventPage
from .webhook_event_type import WebhookEventType
from .webhook_event_type_page import WebhookEventTypePage
from .webhook_replay import WebhookReplay
from .webhook_replay_request import WebhookReplayRequest
from .webhook_secret import WebhookSecret
from .webhook_secret_rotation_request import WebhookSecretRotationRequest

__all__ = (
    "AllowedOrigins",
    "AllowedOriginsRequest",
    "ApiKey",
    "ApiKeyPage",
    "ApiKeyRequest",
    "ApiKeyRotationRequest",
    "ApiKeyUpdateRequest",
    "ApiKeyWithSecret",
    "Appearance",
    "ArmCharge",
    "ArmConfidence",
    "ArmFigures",
    "ArmFiguresByKind",
    "ArmFiguresDegraded",
    "ArmFiguresGradedBy",
    "ArmResult",
    "AudioTrack",
    "AuditActor",
    "AuditEvent",
    "AuditEventDetails",
    "AuditEventPage",
    "BatchCounts",
    "BatchQuestionRequest",
    "BatchQuestionRequestMetadata",
    "BatchUsage",
    "BillingAccount",
    "BillingAccountRequest",
    "Budget",
    "BudgetLeft",
    "BudgetRequest",
    "BudgetUsed",
    "Candidate",
    "ChangedEvent",
    "Charge",
    "ChargeSpan",
    "CheckMode",
    "Chunk",
    "ChunkPage",
    "Claim",
    "Clip",
    "ClipCaptions",
    "ClipGap",
    "ClipMode",
    "ClipPage",
    "ClipRequest",
    "ClockPeriod",
    "ClockStretch",
    "Collection",
    "CollectionPage",
    "CollectionRequest",
    "CollectionUpdateRequest",
    "Comparison",
    "ComparisonArm",
    "ComparisonArmRequest",
    "ComparisonCounts",
    "ComparisonItemRequest",
    "ComparisonMetadata",
    "ComparisonPage",
    "ComparisonReport",
    "ComparisonRequest",
    "ComparisonRequestMetadata",
    "ComparisonResult",
    "Composition",
    "CompositionPart",
    "Contradiction",
    "CreateQuestionInclude",
    "Credit",
    "CreditPage",
    "DerivedText",
    "DurationSpan",
    "Effort",
    "EmptyReason",
    "Entity",
    "EntityPage",
    "ErasureCertificate",
    "Estimate",
    "Event",
    "EventPage",
    "Evidence",
    "ExportAuditEventsActorType",
    "ExportAuditEventsFileType",
    "Feedback",
    "FeedbackRequest",
    "FoundObject",
    "FrameImage",
    "Fusion",
    "Gaps",
    "GapsCodes",
    "GetQuestionInclude",
    "GetQuestionReportFormat",
    "GetTimelineInclude",
    "GetUsageBillable",
    "GetUsageMeter",
    "GradingEnum",
    "GraphSize",
    "Highlight",
    "Indexing",
    "IndexJob",
    "IndexJobError",
    "IndexJobPage",
    "IndexJobProgress",
    "IndexJobRetryRequest",
    "IndexJobUpdateRequest",
    "IndexSize",
    "IndexVersion",
    "IndexVersionPage",
    "IndexVersionStagesMs",
    "InnerMoment",
    "InputSegment",
    "InputSegmentPage",
    "InputSegmentRequest",
    "InputSegmentSource",
    "Invitation",
    "InvitationPage",
    "InvitationRequest",
    "InvitationWithLink",
    "Invoice",
    "InvoiceLine",
    "InvoiceLinePage",
    "InvoicePage",
    "KeyMode",
    "KindArm",
    "KindRule",
    "LabeledSpan",
    "LabeledSpanRequest",
    "Limit",
    "LineTrack",
    "LinkedEntity",
    "LinkedObject",
    "ListApiKeysSort",
    "ListAuditEventsActorType",
    "ListClipsSort",
    "ListClipsStatus",
    "ListCollectionsSort",
    "ListComparisonsSort",
    "ListComparisonsStatus",
    "ListIndexJobsSort",
    "ListInvitationsSort",
    "ListInvoicesKind",
    "ListInvoicesState",
    "ListMembersSort",
    "ListQuestionBatchesSort",
    "ListQuestionBatchesStatus",
    "ListQuestionsFeedback",
    "ListQuestionsSort",
    "ListQuestionsStatus",
    "ListSearchesSort",
    "ListSearchesStatus",
    "ListSessionsSort",
    "ListSharesSort",
    "ListUploadsSort",
    "ListUploadsStatus",
    "ListUsageEventsBillable",
    "ListUsageEventsMeter",
    "ListVideosSort",
    "ListVideosStatus",
    "ListWebhookDeliveriesEventType",
    "ListWebhookDeliveriesSort",
    "ListWebhookDeliveriesState",
    "ListWebhookEndpointsSort",
    "ListWebhookEventsSort",
    "ListWebhookEventsType",
    "MadeThing",
    "MadeThings",
    "Me",
    "Measures",
    "Member",
    "MemberPage",
    "MemberUpdateRequest",
    "Method",
    "MethodList",
    "MethodObstacle",
    "Milliseconds",
    "ModelUsage",
    "Moment",
    "MyTenant",
    "NewSharedLink",
    "Node",
    "NodeDetail",
    "NodeDetailArguments",
    "NodeEvent",
    "NodeUsage",
    "NoticeAddress",
    "NoticeAddressRequest",
    "OwnBudget",
    "OwnBudgetPage",
    "OwnBudgetRequest",
    "Pair",
    "PairGroups",
    "PartialAnswer",
    "PartialEvent",
    "Participant",
    "PartUrl",
    "PartUrlHeaders",
    "PartUrls",
    "PartUrlsRequest",
    "PartUrlsRequestChecksums",
    "PinnedVideo",
    "Playback",
    "PlaybackSegment",
    "Price",
    "PriceAllowance",
    "PriceList",
    "PricePlan",
    "PriceTier",
    "PriorityEnum",
    "Probe",
    "Problem",
    "ProblemErrorsItem",
    "Profile",
    "Progress",
    "ProgressEvent",
    "Question",
    "QuestionBatch",
    "QuestionBatchFinishReasons",
    "QuestionBatchMetadata",
    "QuestionBatchPage",
    "QuestionBatchRequest",
    "QuestionBatchRequestMetadata",
    "QuestionBudget",
    "QuestionBudgetRequest",
    "QuestionEstimate",
    "QuestionEstimateRequest",
    "QuestionMetadata",
    "QuestionMethod",
    "QuestionModels",
    "QuestionPage",
    "QuestionRequest",
    "QuestionRequestMetadata",
    "QuestionTimingsType0",
    "QuestionUpdateRequest",
    "ReceivedPart",
    "Relation",
    "RelationEnd",
    "RelationPage",
    "Rendition",
    "ResourceError",
    "ResultCitation",
    "Retention",
    "RetentionUpdateRequest",
    "Role",
    "RolesEnum",
    "RouteWish",
    "ScanEstimate",
    "Scope",
    "Search",
    "SearchMode",
    "SearchPage",
    "SearchReason",
    "SearchRequest",
    "SearchRequestViews",
    "SearchResult",
    "SearchSummary",
    "SearchSummaryTimingsType0",
    "SearchSummaryViews",
    "SearchTimingsType0",
    "SearchViews",
    "SegmentsSourceRequest",
    "Session",
    "SessionMetadata",
    "SessionPage",
    "SessionRequest",
    "SessionRequestMetadata",
    "Share",
    "SharedLink",
    "SharedLinkPage",
    "ShareRequest",
    "SignInSettings",
    "SignInSettingsOidcGroupRoles",
    "SignInSettingsRequest",
    "SignInSettingsRequestOidcGroupRoles",
    "SignInSettingsRequestOidcGroupRolesAdditionalProperty",
    "Storage",
    "Summary",
    "TenantErasure",
    "TenantErasureBegun",
    "TenantErasureRequest",
    "TenantLimits",
    "TextRange",
    "Timeline",
    "TimelineEntities",
    "TimelineEvents",
    "TimelineGaps",
    "TimelineObjects",
    "TimelineSpeech",
    "TimelineTopics",
    "Topic",
    "TopicFrame",
    "TraceNode",
    "TraceOutcome",
    "Track",
    "TrackedObject",
    "TrackedObjectPage",
    "TrackPage",
    "TranscriptLine",
    "TranscriptLinePage",
    "TypicalCalls",
    "Understood",
    "UnderstoodSpan",
    "UnderstoodTime",
    "Upload",
    "UploadCompletionRequest",
    "UploadedPartRequest",
    "UploadMetadata",
    "UploadPage",
    "UploadRequest",
    "UploadRequestMetadata",
    "UploadSourceRequest",
    "UploadSummary",
    "UploadSummaryMetadata",
    "UrlSourceRequest",
    "Usage",
    "UsageCharge",
    "UsageEvent",
    "UsageEventPage",
    "UsageLine",
    "UsageLineGroup",
    "UsageTotals",
    "Verdict",
    "Video",
    "VideoClock",
    "VideoEstimateRequest",
    "VideoFrame",
    "VideoFramePage",
    "VideoMetadata",
    "VideoPage",
    "VideoRequest",
    "VideoRequestMetadata",
    "VideoSource",
    "VideoTimings",
    "VideoTimingsStagesMs",
    "VideoUpdateRequest",
    "VideoUpdateRequestMetadata",
    "WallClock",
    "WebhookAttempt",
    "WebhookAttemptPage",
    "WebhookDelivery",
    "WebhookDeliveryPage",
    "WebhookEndpoint",
    "WebhookEndpointPage",
    "WebhookEndpointRequest",
    "WebhookEndpointUpdateRequest",
    "WebhookEndpointWithSecret",
    "WebhookEvent",
    "WebhookEventData",
    "WebhookEventPage",
    "WebhookEventType",
    "WebhookEventTypePage",
    "WebhookReplay",
    "WebhookReplayRequest",
    "WebhookSecret",
    "WebhookSecretRotationRequest",
)
