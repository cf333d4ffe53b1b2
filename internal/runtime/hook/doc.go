// Package hook decides on agents' calls that do not use MCP: calls of the agents' own tools, such
// as Bash, Edit and Write. Agents report these calls as hook events: before a call, after it, and
// at the end of a session.
//
// The call announced by an event is decided by the same admission, under the same rules and with
// the same records, as an MCP call. The event after the call settles it. If no such event arrives,
// the outcome is unknown. The package knows the agents' event formats, but not MCP.
//
// An [Agent] describes the format of one agent and reads an [Event]. A [Gate] answers events: it
// keeps the open calls of each session (calls), asks a person if the policy requires it, and leaves
// calls of the proxy's own tools to the proxy (proxiedCalls). Gate.mu guards the map of sessions;
// each session and the proxied calls have locks of their own. No lock is held while a call is
// decided or a person is asked.
package hook
