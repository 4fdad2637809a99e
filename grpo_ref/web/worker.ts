/** The worker of the pages that compute: Python with `grpo_ref`, and nothing else. */
import { serve } from "./turns";

serve();
