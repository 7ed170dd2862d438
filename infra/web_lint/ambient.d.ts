// What the pages of the app import by the import map of their document.
declare module "ava-player" {
  export function mount(
    root: HTMLElement, recordings: object[], options?: {renewal?: string | (() => Promise<object[]>), signal?: AbortSignal, t?: (sentence: string, values?: Record<string, any>) => string},
  ): {video: HTMLVideoElement, go: (moment: {recording: number, start: number, end: number | null}, play?: boolean) => void};
}
