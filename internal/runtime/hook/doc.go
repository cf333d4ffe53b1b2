// Package hook decides on agents' calls that do not use MCP: calls to the agents' own tools, such
// as Bash, Edit and Write. Agents report these calls as hook events: before a call, after it, and
// at the end of a turn or a session.
//
// A call announced by an event goes through the same admission as an MCP call, under the same rules
// and with the same records. The event after the call reports the outcome. If no such event
// arrives, the outcome is unknown. The package knows the agents' event formats, but not MCP.
//
// An [Agent] describes the format of one agent and reads an [Event]. A [Gate] answers events: it
// keeps the open calls of each session, asks a person if the policy requires it, and lets the proxy
// decide on calls to the proxy's own tools. Gate.mu guards the map of sessions. Each session has
// its own lock, and so has the list of calls that the proxy decides on. No lock is held while the
// gate decides on a call or a person is asked.
//
// To add an agent, add its facts to the table in package agenttool and its format to the table in
// agents.go.
package hook
