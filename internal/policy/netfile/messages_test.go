package netfile

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryMessage finds messages that no table of the tests shows.
func TestEveryMessage(t *testing.T) {
	const file = "is written to a file"
	messagetest.Check(t, messagetest.Tables(t, "*_test.go"), map[string]string{
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>":                             file,
		"<net id=\"net%d\" type=\"%s\">":                                         file,
		"<page id=\"net%d-page\">":                                               file,
		"<place id=\"net%d-p%d\"><name><text>%s</text></name>%s</place>":         file,
		"<transition id=\"net%d-t%d\"><name><text>%s</text></name></transition>": file,
		"<arc id=\"net%d-%s\" source=\"net%d-%s\" target=\"net%d-%s\">%s</arc>":  file,
	}, "net.go", "plain.go", "pnml.go")
}
