package service

import (
	"encoding/xml"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// launchd returns the service manager for macOS.
func launchd(s System) *Manager {
	file := filepath.Join(s.Home, "Library", "LaunchAgents", Name+".plist")
	domain := "gui/" + strconv.Itoa(s.UID)
	end := []string{"launchctl", "bootout", domain + "/" + Name}
	log := filepath.Join(s.Home, "Library", "Logs", Name+".log")
	return &Manager{
		Title:   "launchd",
		File:    file,
		Log:     "tail ~/Library/Logs/" + Name + ".log",
		text:    (*Manager).plist,
		probe:   []string{"launchctl", "print", domain},
		start:   []step{{argv: end, lenient: true}, {argv: []string{"launchctl", "bootstrap", domain, file}, retried: true}},
		stop:    []step{{argv: end, lenient: true}},
		logTail: []string{"tail", "-n", "5", log},
	}
}

// plist formats a property list for launchd.
func (m *Manager) plist(s Service) (string, error) {
	var b strings.Builder
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n")
	fmt.Fprintf(&b, "<!-- %s -->\n<plist version=\"1.0\">\n<dict>\n  <key>Label</key><string>%s</string>\n", mark(s.Config), Name)
	b.WriteString("  <key>ProgramArguments</key>\n  <array>\n")
	var bad error
	value := func(text string) string {
		escaped, err := xmlText(text)
		bad = errors.Join(bad, err)
		return "<string>" + escaped + "</string>"
	}
	for _, word := range append([]string{s.Program}, s.Args...) {
		fmt.Fprintf(&b, "    %s\n", value(word))
	}
	b.WriteString("  </array>\n")
	if len(s.Environment) > 0 {
		b.WriteString("  <key>EnvironmentVariables</key>\n  <dict>\n")
		for _, v := range s.Environment {
			fmt.Fprintf(&b, "    <key>%s</key>%s\n", v.Name, value(v.Value))
		}
		b.WriteString("  </dict>\n")
	}
	b.WriteString("  <key>RunAtLoad</key><true/>\n  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n")
	fmt.Fprintf(&b, "  <key>StandardErrorPath</key>%s\n</dict>\n</plist>\n", value(m.logTail[len(m.logTail)-1]))
	return b.String(), bad
}

// xmlText escapes text for XML. It returns an error if the text contains a character that XML
// cannot represent.
func xmlText(text string) (string, error) {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, control) {
		return "", fmt.Errorf("an XML file cannot contain %q", text)
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text), nil
}
