package session

import (
	"github.com/petrigate/petrigate/proxy/internal/spec"
)

// TakesTasks reports whether a client of 2026-07-28 takes a task for an answer.
func (p Peer) TakesTasks() bool {
	return p.Rev.TaskExtension && spec.Declares(p.Capabilities, "extensions", spec.TasksExtension)
}
