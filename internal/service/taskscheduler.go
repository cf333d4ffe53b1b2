package service

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// taskScheduler returns the service manager for Windows. It does not use Windows services, because
// a Windows service belongs to the machine and only an administrator can install it.
func taskScheduler(s System) *Manager {
	dir := cmp.Or(s.env("APPDATA"), filepath.Join(s.Home, "AppData", "Roaming"))
	file := filepath.Join(dir, "petrigate", "task.xml")
	domain, _ := s.Env("USERDOMAIN")
	user, _ := s.Env("USERNAME")
	if domain != "" {
		user = domain + `\` + user
	}
	task := func(words ...string) []string { return append([]string{"schtasks"}, append(words, "/TN", Name)...) }
	return &Manager{
		Title:  "the Task Scheduler",
		File:   file,
		Log:    "schtasks /Query /V /FO LIST /TN " + Name,
		text:   func(_ *Manager, t Service) (string, error) { return taskXML(t, user) },
		encode: encodeUTF16,
		decode: decodeUTF16,
		probe:  []string{"reg", "query", `HKCU\Environment`}, // the Task Scheduler itself is always running
		start: []step{
			{argv: task("/End"), lenient: true},
			{argv: append(task("/Create"), "/XML", file, "/F")},
			{argv: task("/Run")},
		},
		stop: []step{{argv: task("/End"), lenient: true}, {argv: append(task("/Delete"), "/F")}},
	}
}

const taskForm = `<?xml version="1.0" encoding="UTF-16"?>
<!-- %s -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>petrigate for the hooks of agents</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>%[2]s</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>%[2]s</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>3</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>%[3]s</Command>
      <Arguments>%[4]s</Arguments>
    </Exec>
  </Actions>
</Task>
`

// taskXML describes a task for the Task Scheduler. A task cannot have its own environment
// variables.
func taskXML(s Service, user string) (string, error) {
	var args []string
	for i, word := range append([]string{s.Program}, s.Args...) {
		if strings.ContainsRune(word, '"') || strings.Count(word, "%") > 1 || strings.Contains(word, "$(") {
			return "", fmt.Errorf("the Task Scheduler would replace a part of %q", word)
		}
		if strings.ContainsAny(word, " \t") {
			word = `"` + word + `"`
		}
		if i > 0 {
			args = append(args, word)
		}
	}
	escaped := []any{mark(s.Config)}
	for _, text := range []string{user, s.Program, strings.Join(args, " ")} {
		text, err := xmlText(text)
		if err != nil {
			return "", err
		}
		escaped = append(escaped, text)
	}
	return fmt.Sprintf(taskForm, escaped...), nil
}

// encodeUTF16 encodes XML in the form that schtasks accepts.
func encodeUTF16(text string) []byte {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(strings.ReplaceAll(text, "\n", "\r\n"))) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func decodeUTF16(src []byte) string {
	var units []uint16
	for ; len(src) >= 2; src = src[2:] {
		units = append(units, binary.LittleEndian.Uint16(src))
	}
	return strings.ReplaceAll(strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff"), "\r\n", "\n")
}
