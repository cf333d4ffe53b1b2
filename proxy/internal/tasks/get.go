package tasks

import (
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// get sends a tasks/get request for the proxy itself.
func (s *Tasks) get(x *Task) (wire.Task, error) {
	reply, err := s.Request(s.Life.Ctx, x, "tasks/get")
	switch {
	case err != nil:
		return wire.Task{}, err
	case reply.Error != nil && unknownTask(reply.Error):
		return wire.Task{}, errTaskGone
	case reply.Error != nil:
		return wire.Task{}, errors.New("refused: " + text.Escape(spec.Member(reply.Error, "message")))
	}
	return s.read(x, reply.Result)
}

// read stores a task object from the server. If the status has changed, it notifies subscribers.
func (s *Tasks) read(x *Task, object []byte) (wire.Task, error) {
	about, err := wire.ParseTask(object)
	if err == nil && about.ID != x.theirs {
		err = errors.New("it is another task")
	}
	if err != nil {
		return wire.Task{}, fmt.Errorf("reading a task: %w", err)
	}
	if _, changed := x.set(object, about, s.Now()); changed {
		s.changed(x)
	}
	return about, nil
}
