package manpage

import (
	"strings"
	"testing"
)

// TestWrite checks that help texts are escaped: no part of them is a request or an escape sequence.
func TestWrite(t *testing.T) {
	p := Page{
		Name: "gate", Summary: "Gates calls", Version: "1.0", Text: "It gates.\n.so /etc/passwd\n'br\n\n  a \\n b\n", Flags: "      --config file\n",
		Verbs:  []Verb{{Usage: "gate check-all", Short: "Check"}, {Usage: "gate run", Short: "Run", Long: "run runs `a` ~ ^.", Sample: "  gate run -v\n"}},
		Topics: []Topic{{Title: "exit-codes", Text: "  0  success\n"}},
	}
	var b strings.Builder
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	const want = `.TH GATE 1 "" "gate 1.0"
.SH NAME
gate \- Gates calls
.SH SYNOPSIS
.B gate
.I command
[arguments and flags]
.SH DESCRIPTION
.PP
It gates.
\&.so /etc/passwd
\(aqbr
.PP
.nf
  a \en b
.fi
.SH OPTIONS
.PP
.nf
      \-\-config file
.fi
.SH COMMANDS
.SS gate check\-all
.PP
Check.
.SS gate run
.PP
run runs \` + "`a\\`" + ` \(ti \(ha.
.PP
.nf
  gate run \-v
.fi
.SH EXIT\-CODES
.PP
.nf
  0  success
.fi
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}
