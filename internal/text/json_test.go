package text_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/petrigate/petrigate/internal/text"
)

func TestPlainJSON(t *testing.T) {
	for _, c := range []struct{ from, want string }{
		{`{"a":"x && y <z>"}`, `{"a":"x && y <z>"}`}, {`{"a":"x \u0026\u0026 y \u003cz\u003E"}`, `{"a":"x && y <z>"}`},
		{`"\u00e9 \ud83d\ude00"`, `"é 😀"`}, {`"\u0022 \u005c \u000a \u001b \u202e \u200b"`, `"\u0022 \u005c \u000a \u001b \u202e \u200b"`},
		{`"\\u0026 \"\u0026\\"`, `"\\u0026 \"&\\"`}, {`"\ud83d \ud83dx \ude00 \ud83d\u0026"`, `"\ud83d \ud83dx \ude00 \ud83d&"`},
		{`"\u00`, `"\u00`}, {`\`, `\`}, {`\u12`, `\u12`},
	} {
		got := string(text.PlainJSON([]byte(c.from)))
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.from, got, c.want)
		}
		var before, after any
		if json.Unmarshal([]byte(c.from), &before) == nil && (json.Unmarshal([]byte(got), &after) != nil || !reflect.DeepEqual(before, after)) {
			t.Errorf("%s says something else: %s", c.from, got)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{`{"command":"cd pkg \u0026\u0026 npm publish"}`, `cd pkg && npm publish`},
		{`{"timeout":5,"command":"a","description":"b \u003c c"}`, `a {"description":"b < c","timeout":5}`},
		{`{"command":["bash","-lc","git push"]}`, `bash -lc git push`}, {`{"cmd":"ls"}`, `ls`}, {`{"script":"ls"}`, `ls`},
		{`{ "path" : "a" , "n" : 1.0 }`, `{"path":"a","n":1.0}`}, {`{"command":""}`, `{"command":""}`}, {`{"command":1}`, `{"command":1}`}, {`{"command":"***"}`, `***`},
		{`{}`, ``}, {``, ``}, {`null`, ``}, {`[1]`, ``},
	} {
		if got := text.Command([]byte(c.args)); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
}
