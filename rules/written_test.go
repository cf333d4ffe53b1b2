package rules

import (
	"fmt"
	"testing"
)

func ExampleWritten() {
	fmt.Println(Written("edit_file"), Written("discord.send"), Written("or"), Written("a\nblock *"))
	// Output: edit_file "discord.send" "or" "a\u000ablock *"
}

// FuzzWritten checks that a rule with any tool's written name is a single rule about that name.
func FuzzWritten(f *testing.F) {
	for _, name := range []string{"a", "before", "*", "#", "a,b", "\u202e", "a\"b\\", "limit", "é", "a\n", "once"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		file, errs := Parse("", []byte("require "+Written(name)+" before x\nblock "+Written(name)))
		if len(errs) > 0 {
			return // not UTF-8, or empty
		}
		names := file.Names()
		if len(file.Statements) != 2 || len(names) != 3 || names[0].Text != name || names[2].Text != name || names[0].Glob() {
			t.Errorf("%q: %v", name, file)
		}
	})
}
