// Package hook gates the calls that agents make without MCP: of their own tools, such as Bash,
// Edit and Write. An agent tells of them by the events of its hooks: before a call, after it, and
// when its session ends.
//
// A call is decided on at the event before it, by the same admission, under the same rules and
// on the same record as calls of MCP, and is settled at the event after it. Where no such event
// comes, how the call ended is unknown. The package knows the forms of the agents and no MCP.
package hook
