package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// clientEscapes are the texts with which clients that read their commands from
// the input run one of the shell's.
var clientEscapes = map[string]string{
	"psql":    `\! \g \o \copy PROGRAM program`,
	"mysql":   `\! system \P pager`,
	"mariadb": `\! system \P pager`,
	"sqlite3": ".sh .sys edit( .import .once .output .excel",
	"duckdb":  ".sh .sys .once .output .excel",
	"sftp":    "!",
}

// clientInput reads what is given to such a client in the script itself. A
// file is a program in a file.
func (r *reader) clientInput(name string, redirs []*syntax.Redirect) {
	escapes := clientEscapes[name]
	if escapes == "" {
		return
	}
	for _, rd := range redirs {
		switch rd.Op {
		case syntax.RdrIn:
			r.scriptFile(r.word(rd.Word))
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			text, ok := stdin([]*syntax.Redirect{rd})
			for _, e := range strings.Fields(escapes) {
				ok = ok && !strings.Contains(text, e)
			}
			if !ok {
				r.unsure("an input that may run a command")
			}
		}
	}
}
