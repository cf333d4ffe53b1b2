package wire

import "github.com/petrigate/petrigate/internal/rawjson"

// Facts are what the top level of a tool's result says about how the call
// ended.
type Facts struct {
	IsError Flag
	Type    Type // resultType
	Task    bool // there is a member task: a handle of work that goes on
	Meta    bool // there is a member _meta

	// Broken: no object, a member twice, or one that differs from a known one
	// in case only. It could be read as anything, so it is no success.
	Broken bool
}

// Flag is a boolean member of a result.
type Flag uint8

const (
	Absent Flag = iota
	False
	True
	Other // not a boolean
)

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
func ResultFacts(result []byte) Facts {
	var f Facts
	whole := rawjson.Members(result, func(key, value []byte, _ int) bool {
		f.take(key, value)
		return true
	})
	f.Broken = f.Broken || !whole
	return f
}

func (f *Facts) take(key, value []byte) {
	switch string(key) {
	case "isError":
		f.Broken = f.Broken || f.IsError != Absent
		f.IsError = flag(value)
	case "resultType":
		f.Broken = f.Broken || f.Type != TypeAbsent
		f.Type = resultType(value)
	case "task":
		f.Broken = f.Broken || f.Task
		f.Task = true
	case "_meta":
		f.Broken = f.Broken || f.Meta
		f.Meta = true
	default:
		f.Broken = f.Broken || variantOf(key, resultKeys[:]) != ""
	}
}

func flag(value []byte) Flag {
	switch string(value) {
	case "false":
		return False
	case "true":
		return True
	}
	return Other
}

func resultType(value []byte) Type {
	switch {
	case isString(value, "complete"):
		return TypeComplete
	case isString(value, "input_required"):
		return TypeInputRequired
	case isString(value, "task"):
		return TypeTask
	}
	return TypeOther
}

// Success reports whether the call ended well: the result is complete, and
// nothing in it says or may say that it is an error.
func (f Facts) Success() bool {
	return f.Ended() && !f.Broken && (f.IsError == Absent || f.IsError == False) && f.Type != TypeOther
}

// Ended reports whether the result is the end of the call, good or bad: it
// asks for no input and hands out no task.
func (f Facts) Ended() bool { return f.Type != TypeInputRequired && !f.Handle() }

// Handle reports whether the result is not the end of the call but hands out a
// task, be it one that nobody asked for.
func (f Facts) Handle() bool { return f.Task || f.Type == TypeTask }

// Success is [Facts.Success] of a result.
func Success(result []byte) bool { return ResultFacts(result).Success() }
