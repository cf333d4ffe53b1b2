package session

import (
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// TakesTasks reports whether a client of 2026-07-28 takes a task for an answer.
func (a Peer) TakesTasks() bool {
	return a.Rev.TaskExtension && spec.Declares(a.Capabilities, "extensions", spec.TasksExtension)
}
