package wire

import "github.com/petrigate/petrigate/internal/rawjson"

// Facts are what the top level of a tool's result says about how the call
// ended.
type Facts struct {
	Failed bool // there is isError, and it is not false
	Type   Type // resultType
	Task   bool // there is a member task: a handle of work that goes on

	// Broken: no object, a member twice, or one that differs from a known one
	// in case only. It could be read as anything, so it is no success.
	Broken bool
}

// Type is the resultType of a result.
type Type uint8

const (
	TypeAbsent        Type = iota
	TypeComplete           // "complete"
	TypeInputRequired      // "input_required"
	TypeTask               // "task": as the member task, since 2026-07-28
	TypeOther
)

// ResultFacts reads the top level of a result.
func ResultFacts(result []byte) (f Facts) {
	var isError, meta bool // there was one before
	first := func(seen *bool) {
		f.Broken = f.Broken || *seen
		*seen = true
	}
	whole := rawjson.Members(result, func(key, value []byte, _ int) bool {
		switch string(key) {
		case "isError":
			first(&isError)
			f.Failed = string(value) != "false"
		case "resultType":
			f.Broken = f.Broken || f.Type != TypeAbsent
			f.Type = resultType(value)
		case "task":
			first(&f.Task)
		case "_meta":
			first(&meta)
		default:
			f.Broken = f.Broken || variantOf(key, resultKeys) != ""
		}
		return true
	})
	f.Broken = f.Broken || !whole
	return f
}

func resultType(value []byte) Type {
	switch name, _ := rawjson.String(value); name {
	case "complete":
		return TypeComplete
	case "input_required":
		return TypeInputRequired
	case "task":
		return TypeTask
	}
	return TypeOther
}

// Success reports whether the call ended well: the result is complete, and
// nothing in it says or may say that it is an error.
func (f Facts) Success() bool {
	return f.Ended() && !f.Broken && !f.Failed && f.Type != TypeOther
}

// Ended reports whether the result is the end of the call, good or bad: it
// asks for no input and hands out no task.
func (f Facts) Ended() bool { return f.Type != TypeInputRequired && !f.Handle() }

// Handle reports whether the result is not the end of the call but hands out a
// task, be it one that nobody asked for.
func (f Facts) Handle() bool { return f.Task || f.Type == TypeTask }

// Success is [Facts.Success] of a result.
func Success(result []byte) bool { return ResultFacts(result).Success() }
