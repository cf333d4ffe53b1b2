package main

import (
	"bytes"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestManualPageListsVerbsAndFlags checks that the page lists all commands with all of their flags,
// and the help topics.
func TestManualPageListsVerbsAndFlags(t *testing.T) {
	var out bytes.Buffer
	if code := run(t.Context(), []string{"man"}, stdio{in: strings.NewReader(""), out: &out, err: io.Discard}); code != exitOK {
		t.Fatal("exit code", code)
	}
	page := strings.ReplaceAll(out.String(), `\-`, "-")
	for _, c := range verbs(quietRoot())[1:] {
		_, of, found := strings.Cut(page, "\n.SS "+c.CommandPath()+" ")
		if of, _, _ = strings.Cut(of, "\n.SS "); !found && c.Name() != "help" && !c.IsAdditionalHelpTopicCommand() {
			t.Errorf("%s is not there", c.CommandPath())
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if found && f.Name != "help" && !strings.Contains(of, "--"+f.Name) {
				t.Errorf("%s: --%s is not there", c.CommandPath(), f.Name)
			}
		})
	}
	for _, title := range []string{"RULES", "ENVIRONMENT", "EXIT-CODES"} {
		if !strings.Contains(page, "\n.SH "+title+"\n") {
			t.Errorf("%s is not there", title)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip(err)
	}
	c := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
	c.Stdin = &out
	if said, err := c.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("groff: %v\n%s", err, said)
	}
}
