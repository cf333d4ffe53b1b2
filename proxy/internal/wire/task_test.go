package wire

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
)

func TestParseTask(t *testing.T) {
	for _, c := range []struct {
		object string
		want   Task
		ok     bool
	}{
		{`{"taskId":"a","status":"working","ttl":1000,"pollInterval":5}`, Task{ID: "a", Status: TaskWorking, TTL: time.Second, Poll: 5 * time.Millisecond}, true},
		{`{"taskId":"a","status":"input_required","ttlMs":1.5,"pollIntervalMs":null}`, Task{ID: "a", Status: TaskInputRequired, TTL: 1500 * time.Microsecond}, true},
		{`{"taskId":"a","status":"completed","result":{}}`, Task{ID: "a", Status: TaskCompleted, Outcome: []byte(`{}`)}, true},
		{`{"status":"failed","taskId":"\u0061","ttl":1e400}`, Task{ID: "a", Status: TaskFailed}, true},
		{`{"taskId":"a","status":"cancelled","ttl":-1}`, Task{ID: "a", Status: TaskCancelled}, true},
		{`{"taskId":"a","status":"Completed"}`, Task{ID: "a"}, true},
		{`{"taskId":"a"}`, Task{ID: "a"}, true},
		{`{"taskId":"","status":"working"}`, Task{}, false},
		{`{"status":"working"}`, Task{}, false},
		{`{"taskId":1,"status":"working"}`, Task{}, false},
		{`{"taskId":"a","status":1}`, Task{}, false},
		{`{"taskId":"a","ttl":"1"}`, Task{}, false},
		{`{"taskId":"a","status":"working","status":"completed"}`, Task{}, false},
		{`{"taskId":"a","status":"working","Status":"completed"}`, Task{}, false},
		{`{"taskId":"a","TASKID":"b"}`, Task{}, false},
		{`["a"]`, Task{}, false},
		{``, Task{}, false},
	} {
		got, err := ParseTask([]byte(c.object))
		if (err == nil) != c.ok || got.ID != c.want.ID || got.Status != c.want.Status || got.TTL != c.want.TTL || got.Poll != c.want.Poll || string(got.Outcome) != string(c.want.Outcome) {
			t.Errorf("%s: %+v, %v", c.object, got, err)
		}
	}
}

func TestRelateTask(t *testing.T) {
	related := `{"a":1,"_meta":{"x":1E400,"io.modelcontextprotocol/related-task":{"y":2 , "taskId":"theirs"}},"taskId":"own"}`
	want := `{"a":1,"_meta":{"x":1E400,"io.modelcontextprotocol/related-task":{"y":2 , "taskId":"ours"}},"taskId":"own"}`
	if got := RelateTask([]byte(related), "ours"); string(got) != want || RelatedTask(got) != "ours" {
		t.Errorf("%s", got)
	}
	for _, plain := range []string{`{}`, `{"_meta":{}}`, `{"_meta":1}`, `{"taskId":"own"}`} {
		if got := RelateTask([]byte(plain), "ours"); string(got) != plain || RelatedTask(got) != "" {
			t.Errorf("%s: %s", plain, got)
		}
	}
}

func TestExtensionTask(t *testing.T) {
	for _, c := range []struct{ object, members, want string }{
		{`{"taskId":"a","status":"working","ttl":60000,"pollInterval":5,"v":1E400}`, `"resultType":"task"`,
			`{"resultType":"task","taskId":"a","status":"working","ttlMs":60000,"pollIntervalMs":5,"v":1E400}`},
		{`{"taskId":"a","status":"failed"}`, `"status":"completed","result":{}`, `{"status":"completed","result":{},"taskId":"a","ttlMs":null}`},
		{`{"taskId":"a","ttlMs":1,"ttl":2}`, `"x":1`, `{"x":1,"taskId":"a","ttlMs":2}`},
	} {
		if got := ExtensionTask([]byte(c.object), rawjson.Object("{"+c.members)); string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.object, got, c.want)
		}
	}
}

// FuzzTask checks that a task is read as encoding/json reads it, and that the rewritten task is
// strict JSON with the same content.
func FuzzTask(f *testing.F) {
	f.Add([]byte(`{"taskId":"a","status":"working","ttl":1000,"pollInterval":5}`), "b")
	f.Add([]byte(`{"taskId":"a","status":"completed","result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}}`), "\u00e9\"")
	f.Fuzz(func(t *testing.T, object []byte, id string) {
		task, err := ParseTask(object)
		if err != nil {
			return
		}
		var read struct{ TaskID, Status string }
		if err := json.Unmarshal(object, &read); err != nil || read.TaskID != task.ID {
			t.Fatalf("%q is read as %q, %v", object, read.TaskID, err)
		}
		if task.Status.Over() != (read.Status == "completed" || read.Status == "failed" || read.Status == "cancelled") {
			t.Fatalf("%q: status %d", object, task.Status)
		}
		lit := rawjson.AppendString(nil, id)
		want, ok := rawjson.String(lit)
		for _, written := range [][]byte{RenameTask(object, id), ExtensionTask(RenameTask(object, id), rawjson.Object{}.String("resultType", "task"))} {
			if again, err := ParseTask(written); ok && want != "" && len(want) <= maxTaskID && (err != nil || again.ID != want || again.Status != task.Status) {
				t.Fatalf("%q became %q: %v", object, written, err)
			}
		}
	})
}
