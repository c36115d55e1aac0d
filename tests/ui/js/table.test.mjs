import assert from "node:assert/strict";
import { test } from "node:test";
import { PAGE_TOKENS, pageOf } from "../../../board/ui/components/token_view/table.js";

const CASES = [
  ["a short response is one page", 3, 12, [0, 12]],
  ["pages tile a long one", PAGE_TOKENS + 1, 1000, [PAGE_TOKENS, 2 * PAGE_TOKENS]],
  ["the last is shorter", 999, 1000 - 1, [800, 999]],
  ["before the start is the first", -200, 1000, [0, PAGE_TOKENS]],
  ["beyond the end is the last", 5000, 450, [400, 450]],
];
for (const [name, index, n, [first, stop]] of CASES) test(name, () => assert.deepEqual(pageOf(index, n), { first, stop }));
