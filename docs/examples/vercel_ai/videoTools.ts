/** Tools for the AI SDK (npm `ai`): a model asks questions about videos, and finds moments in them. */

import {Ava} from "@ava-cloud/client";
import {tool} from "ai";
import {z} from "zod";

const videos = z.array(z.string()).min(1).describe("Ids of videos to read, vid_…");

/** Return tools that read these videos. A question costs money; the same call again is not charged twice. */
export function videoTools(ava: Ava) {
  return {
    askVideos: tool({
      description: "Answer a question about videos, with evidence: times in milliseconds and what happens then.",
      inputSchema: z.object({question: z.string(), video_ids: videos}),
      execute: async ({question, video_ids}, {toolCallId}) => {
        const answer = await ava.ask({question, video_ids}, {idempotencyKey: `ai-${toolCallId}`});
        const evidence = answer.evidence.map(({video_id, start_ms, end_ms, status, quote}) => {
          return {video_id, start_ms, end_ms, status, quote};
        });
        return {answer: answer.answer, confidence: answer.confidence, evidence, notes: answer.notes};
      },
    }),
    findMoments: tool({
      description: "Find moments of videos by what is seen, said or written. Cheap, and without reasoning.",
      inputSchema: z.object({query: z.string(), video_ids: videos}),
      execute: async ({query, video_ids}) => {
        const found = await ava.search({query, video_ids, limit: 10});
        return found.results.map(({video_id, start_ms, end_ms, score, summary}) => {
          return {video_id, start_ms, end_ms, score, summary};
        });
      },
    }),
  };
}
