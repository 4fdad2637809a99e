/** The worker of the judge: `grpo_ref` itself, which grades a text and asks a student's worker for values. */
import { Channel } from "./channel";
import { told } from "./student_turn";
import { serve } from "./turns";

/** A request of the judge to the page: a new interpreter for a student, or a turn of the current one. */
type Request = { do: "open"; output: number } | { do: "turn"; code: string; seconds: number } | { do: "close" };

let channel: Channel | undefined;

function failed(trapped: string): Uint8Array {
  return told({ exit: null, trapped, ended: trapped, truncated: false, stdout: new Uint8Array(), stderr: "" });
}

function door(frame: Uint8Array): Uint8Array {
  const request = JSON.parse(new TextDecoder().decode(frame)) as Request;
  if (request.do === "turn") {
    if (channel === undefined) return failed("closed");
    const answer = channel.ask(new TextEncoder().encode(request.code), request.seconds);
    if (answer) return answer;
    return failed(answer === null ? "stopped" : "deadline");
  }
  channel = request.do === "open" ? new Channel() : undefined;
  postMessage({ student: channel?.memory ?? null, output: request.do === "open" ? request.output : 0 });
  return new Uint8Array();
}

serve(door);
