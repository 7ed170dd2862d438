/**
 * Names for the schemas of the API that pages use.
 * @typedef {import("../../frontend_api_schema/typescript/src/schema").components["schemas"]} Schemas
 * @typedef {Schemas["Me"]} Me
 * @typedef {Schemas["MyTenant"]} MyTenant
 * @typedef {Schemas["Problem"]} Problem
 * @typedef {Schemas["Video"]} Video
 * @typedef {Schemas["Upload"]} Upload
 * @typedef {Schemas["PartUrls"]} PartUrls
 * @typedef {Schemas["Collection"]} Collection
 * @typedef {Required<Schemas["Timeline"]>} Timeline with the lanes that were asked for
 * @typedef {Schemas["Rendition"]} Rendition
 * @typedef {Schemas["Event"]} VideoEvent
 * @typedef {Schemas["TranscriptLine"]} TranscriptLine
 * @typedef {Schemas["Entity"]} Entity
 * @typedef {Schemas["TrackedObject"]} TrackedObject
 * @typedef {Schemas["Track"]} Track
 * @typedef {Schemas["Summary"]} Summary
 * @typedef {Schemas["Question"]} Question
 * @typedef {Schemas["Evidence"]} Evidence
 * @typedef {Schemas["Claim"]} Claim
 * @typedef {Schemas["Node"]} SearchNode
 * @typedef {Schemas["QuestionEstimate"]} QuestionEstimate
 * @typedef {Schemas["Search"]} Search
 * @typedef {Schemas["Clip"]} Clip
 * @typedef {Schemas["NewSharedLink"]} NewSharedLink
 * @typedef {Schemas["Usage"]} Usage
 * @typedef {Schemas["Limits"]} Limits
 * @typedef {Schemas["Budget"]} Budget
 * @typedef {Schemas["OwnBudget"]} OwnBudget
 * @typedef {Schemas["Invoice"]} Invoice
 * @typedef {Schemas["ApiKey"]} ApiKey
 * @typedef {Schemas["WebhookEndpoint"]} WebhookEndpoint
 * @typedef {Schemas["WebhookDelivery"]} WebhookDelivery
 * @typedef {Schemas["WebhookAttempt"]} WebhookAttempt
 * @typedef {Schemas["Member"]} Member
 * @typedef {Schemas["Invitation"]} Invitation
 * @typedef {Schemas["AuditEvent"]} AuditEvent
 * @typedef {Schemas["Session"]} Session
 * @typedef {Schemas["Method"]} Method
 */

/**
 * One page of a list.
 * @template Row
 * @typedef {{data: Row[], next_cursor: string | null}} PageOf
 */

export {};
