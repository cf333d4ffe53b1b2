package wire

import "github.com/petrigate/petrigate/internal/rawjson"

// Facts are the members of a tool result that show how the call ended.
type Facts struct {
	Failed bool // isError is present and not false
	Type   Type // value of resultType
	Task   bool // a member task is present: the work continues as that task

	// Broken means that the result is not an object, has a duplicate member, or has a member that
	// differs from a known one only in case. Parsers could disagree about it, so it does not count
	// as a success.
	Broken bool
}

// Type is the resultType of a result.
type Type uint8

const (
	TypeAbsent        Type = iota
	TypeComplete           // "complete"
	TypeInputRequired      // "input_required"
	TypeTask               // "task": like the member task, since 2026-07-28
	TypeOther
)

// ResultFacts reads the top level of a result.
func ResultFacts(result []byte) (f Facts) {
	var isError, meta bool // the member was seen before
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

// Success reports whether the call succeeded: the result is complete and cannot be read as an
// error.
func (f Facts) Success() bool {
	return f.Ended() && !f.Broken && !f.Failed && f.Type != TypeOther
}

// Ended reports whether the result ends the call, successfully or not: it neither asks for input
// nor creates a task.
func (f Facts) Ended() bool { return f.Type != TypeInputRequired && !f.Handle() }

// Handle reports whether the result creates a task instead of ending the call, even if the client
// did not ask for a task.
func (f Facts) Handle() bool { return f.Task || f.Type == TypeTask }

// Success reports whether result is that of a successful call; see [Facts.Success].
func Success(result []byte) bool { return ResultFacts(result).Success() }
