package wire

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Task holds the members of a task object that the proxy reads.
type Task struct {
	ID      string
	Status  TaskStatus
	TTL     time.Duration // lifetime from the task's creation; 0 means unlimited
	Poll    time.Duration // polling interval suggested by the server; 0 if none
	Outcome []byte        // result of a completed task in revision 2026-07-28, or nil
}

// TaskStatus is the status of a task.
type TaskStatus uint8

const (
	TaskOther TaskStatus = iota // unknown status
	TaskWorking
	TaskInputRequired
	TaskCompleted
	TaskFailed
	TaskCancelled
)

// Over reports whether the status is final, that is, whether the task has ended.
func (s TaskStatus) Over() bool { return s == TaskCompleted || s == TaskFailed || s == TaskCancelled }

// maxTaskDepth is the maximum nesting depth of a task object.
const maxTaskDepth = rawjson.MaxDepth

// maxTaskID is the maximum length of a task ID in bytes.
const maxTaskID = 1024

// ParseTask parses a task object of any protocol revision. It returns an error if the task ID is
// missing or too long, or if a member has the wrong type. It also returns an error if parsers could
// disagree about the object: if the object is not strict JSON, or if a key differs from a known key
// only in case.
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
		return Task{}, errors.New("it is not an object")
	case t.ID == "" || len(t.ID) > maxTaskID:
		return Task{}, errors.New("its id is missing or too long")
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

var taskStatuses = map[string]TaskStatus{
	"working": TaskWorking, "input_required": TaskInputRequired,
	"completed": TaskCompleted, "failed": TaskFailed, "cancelled": TaskCancelled,
}

// milliseconds parses a duration in milliseconds. If the duration is null, negative or too long, it
// returns 0.
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

// RelatedTask returns the ID of the task that obj refers to in its _meta, or "" if it refers to no
// task. obj is the params or the result of a message.
func RelatedTask(obj []byte) string {
	return rawjson.StringAt(obj, "_meta", keyRelatedTask, "taskId")
}

// RelateTask replaces the task ID in the _meta of obj, and returns the new object. obj is the
// params or the result of a message. If its _meta refers to no task, RelateTask returns obj
// unchanged.
func RelateTask(obj []byte, id string) []byte {
	related, ok := rawjson.MemberAt(obj, "_meta", keyRelatedTask)
	if !ok {
		return obj
	}
	meta, _ := rawjson.Member(obj, "_meta")
	meta = ReplaceMember(nil, meta, keyRelatedTask, RenameTask(related, id))
	return ReplaceMember(nil, obj, "_meta", meta)
}

// RenameTask returns obj with a new taskId. If it has no taskId, obj is returned unchanged.
func RenameTask(obj []byte, id string) []byte {
	return ReplaceMember(nil, obj, "taskId", rawjson.AppendString(nil, id))
}

// ExtensionTask converts a task object of revision 2025-11-25 to the form of revision 2026-07-28.
// The result begins with the given members, which take precedence over the task's own members.
func ExtensionTask(object []byte, members rawjson.Object) []byte {
	out, given := slices.Clip(members), slices.Clip(members).Bytes()
	kept := false // whether the task object has a ttl
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
	if !kept { // ttlMs is required
		out = out.Raw("ttlMs", []byte("null"))
	}
	return out.Bytes()
}
