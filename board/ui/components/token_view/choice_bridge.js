// The component nobody sees: hands the server's choice to the token view of the same key.

import { meetingPlace, offer } from "./echo_filter.js";

/** @import { ServerChoice } from "./payload_types" */

/** @param {{ data: ServerChoice }} given */
export default function ({ data }) {
  offer(meetingPlace(data.key), data);
}
