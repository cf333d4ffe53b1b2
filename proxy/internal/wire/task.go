package wire

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Task is what the object of a task says that the proxy acts on.
type Task struct {
	ID      string
	Status  TaskStatus
	TTL     time.Duration // since its creation; 0: it is kept without end
	Poll    time.Duration // between two questions for it; 0: it does not say
	Outcome []byte        // of a task of 2026-07-28 that is completed: its result; nil: it has none
}

// TaskStatus is where a task stands.
type TaskStatus uint8

const (
	TaskOther TaskStatus = iota // none that is known
	TaskWorking
	TaskInputRequired
	TaskCompleted
	TaskFailed
	TaskCancelled
)

// Over reports whether the task goes on no more.
func (s TaskStatus) Over() bool { return s == TaskCompleted || s == TaskFailed || s == TaskCancelled }

// maxTaskDepth is how deep the object of a task may be nested.
const maxTaskDepth = rawjson.MaxDepth

// maxTaskID is the most bytes that the id of a task has.
const maxTaskID = 1024

// ParseTask reads the object of a task, of either revision family. It has to be strict: what
// could be read in two ways says nothing.
func ParseTask(object []byte) (t Task, err error) {
	if err := rawjson.Check(object, maxTaskDepth); err != nil {
		return Task{}, err
	}
	bad := ""
	whole := rawjson.Members(object, func(key, value []byte, _ int) bool {
		if !t.take(string(key), value) {
			bad = "its " + strconv.QuoteToASCII(clip(key)) + " is of the wrong type"
		} else if k := variantOf(key, taskKeys); k != "" {
			bad = quoteVariant(key, k)
		}
		return bad == ""
	})
	switch {
	case bad != "":
		return Task{}, errors.New(bad)
	case !whole:
		return Task{}, errors.New("it is no object")
	case t.ID == "" || len(t.ID) > maxTaskID:
		return Task{}, errors.New("it has no id, or one that is too long")
	}
	return t, nil
}

func (t *Task) take(key string, value []byte) (ok bool) {
	switch key {
	case "taskId":
		t.ID, ok = rawjson.String(value)
	case "status":
		var name string
		name, ok = rawjson.String(value)
		t.Status = taskStatuses[name]
	case "ttl", "ttlMs":
		t.TTL, ok = milliseconds(value)
	case "pollInterval", "pollIntervalMs":
		t.Poll, ok = milliseconds(value)
	case "result":
		t.Outcome, ok = value, true
	default:
		ok = true
	}
	return ok
}

// taskStatuses are the statuses by their names.
var taskStatuses = map[string]TaskStatus{
	"working": TaskWorking, "input_required": TaskInputRequired,
	"completed": TaskCompleted, "failed": TaskFailed, "cancelled": TaskCancelled,
}

// milliseconds reads a time; null is none, and what is too long for us too.
func milliseconds(value []byte) (time.Duration, bool) {
	if string(value) == "null" {
		return 0, true
	}
	ms, err := strconv.ParseFloat(string(value), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	if ms < 0 || ms > float64(maxTaskTime.Milliseconds()) {
		ms = 0
	}
	return time.Duration(ms * float64(time.Millisecond)), true
}

const maxTaskTime = 10 * 365 * 24 * time.Hour

// RelatedTask is the id of the task that the _meta of obj, the params or the
// result of a message, relates it to; empty: none.
func RelatedTask(obj []byte) string {
	lit, _ := rawjson.MemberAt(obj, "_meta", keyRelatedTask, "taskId")
	id, _ := rawjson.String(lit)
	return id
}

// RelateTask is obj with another id of the task that it is related to. Where it
// is related to none it is obj itself.
func RelateTask(obj []byte, id string) []byte {
	related, ok := rawjson.MemberAt(obj, "_meta", keyRelatedTask)
	if !ok {
		return obj
	}
	meta, _ := rawjson.Member(obj, "_meta")
	meta = ReplaceMember(nil, meta, keyRelatedTask, RenameTask(related, id))
	return ReplaceMember(nil, obj, "_meta", meta)
}

// RenameTask is an object with another taskId. Without one it is as it was.
func RenameTask(obj []byte, id string) []byte {
	return ReplaceMember(nil, obj, "taskId", rawjson.AppendString(nil, id))
}

// ExtensionTask is a task of 2025-11-25 as 2026-07-28 writes it, with members of
// that revision, written as "key":value with commas between them, before its
// own, in whose place they stand where they are called the same.
func ExtensionTask(object, members []byte) []byte {
	out := rawjson.Object(append([]byte{'{'}, members...))
	given := bytes.Clone(out.Bytes())
	kept := false // how long it is kept
	rawjson.Members(object, func(key, value []byte, _ int) bool {
		name := string(key)
		switch name {
		case "ttl":
			name, kept = "ttlMs", true
		case "pollInterval":
			name = "pollIntervalMs"
		case "ttlMs", "pollIntervalMs":
			return true
		}
		if _, has := rawjson.Member(given, name); !has {
			out = out.Raw(name, value)
		}
		return true
	})
	if !kept { // which it has to say
		out = out.Raw("ttlMs", []byte("null"))
	}
	return out.Bytes()
}
