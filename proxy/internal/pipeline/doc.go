// Package pipeline takes one call (tools/call, prompts/get, resources/read) from its
// client through admission to its server, and its result back: resolve the tool, place
// the call at a connection, decide, ask a person, record, forward, settle, answer.
//
// [Pipeline.Serve] and the finish of a call are the whole of it; their order is a
// security property: nothing is sent before the decision is on record, and the nets know
// the outcome before the client does.
package pipeline
