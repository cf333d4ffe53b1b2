// Package desktop shows notifications on the user's desktop by running a program that comes with
// the operating system or the desktop. It passes the text to that program as an argument or an
// environment variable, never as part of a script.
package desktop

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

const (
	timeout       = 5 * time.Second // how long the program that shows a notification may run
	maxConcurrent = 4               // maximum number of concurrent notifications; further notifications are dropped
	maxLine       = 240             // maximum length of a notification's text in bytes
)

// A Notifier shows desktop notifications. It is safe for concurrent use. The caller must close it.
type Notifier struct {
	log     *slog.Logger
	limit   time.Duration // how long the program that shows a notification may run
	command func(line string) (name string, args, env []string)
	slots   chan struct{}
	logOnce sync.Once // ensures that only the first error is logged

	ctx  context.Context //nolint:containedctx // done when the notifier ends
	end  context.CancelFunc
	work sync.WaitGroup
}

// New returns a notifier for the current operating system.
func New(log *slog.Logger) *Notifier {
	n := &Notifier{log: log, limit: timeout, command: commandOf(runtime.GOOS), slots: make(chan struct{}, maxConcurrent)}
	n.ctx, n.end = context.WithCancel(context.Background())
	return n
}

// Show shows a notification with the given line of text. It does not block. Only the first error is
// logged.
func (n *Notifier) Show(line string) {
	select {
	case n.slots <- struct{}{}:
	default:
		return
	}
	n.work.Go(func() {
		defer func() { <-n.slots }()
		if err := n.run(text.Excerpt(line, maxLine)); err != nil && n.ctx.Err() == nil {
			n.logOnce.Do(func() { n.log.Warn("a notification cannot be shown on this desktop", "error", err) })
		}
	})
}

// Close kills the programs that are still running and waits until they have ended. Show must not be
// called after Close.
func (n *Notifier) Close() {
	n.end()
	n.work.Wait()
}

func (n *Notifier) run(line string) error {
	ctx, cancel := context.WithTimeout(n.ctx, n.limit)
	defer cancel()
	name, args, env := n.command(line)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	return cmd.Run()
}

const title = "petrigate requests approval"

// toast is a PowerShell script that shows a notification. The script takes the text from an
// environment variable, so that the text never becomes part of the script.
const toast = `$ErrorActionPreference='Stop';` +
	`[void][Windows.UI.Notifications.ToastNotificationManager,Windows.UI.Notifications,ContentType=WindowsRuntime];` +
	`$x=[Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02);` +
	`$t=$x.GetElementsByTagName('text');` +
	`[void]$t.Item(0).AppendChild($x.CreateTextNode('` + title + `'));` +
	`[void]$t.Item(1).AppendChild($x.CreateTextNode($env:PETRIGATE_NOTIFICATION));` +
	`[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier('petrigate').Show([Windows.UI.Notifications.ToastNotification]::new($x))`

// markup escapes markup that some desktops interpret in notifications. It also escapes backslashes,
// because notify-send decodes sequences such as \074, which could restore escaped markup.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`)

// commandOf returns a function that builds the command for showing a line of text: the program, its
// arguments, and additional environment variables. The line must not begin with a dash, because
// osascript would interpret it as an option. [Line] never returns such a line.
func commandOf(system string) func(line string) (name string, args, env []string) {
	return func(line string) (name string, args, env []string) {
		switch system {
		case "darwin":
			return "osascript", []string{
				"-e", "on run argv", "-e", `display notification (item 1 of argv) with title "` + title + `"`, "-e", "end run", line,
			}, nil
		case "windows":
			return "powershell", []string{"-NoProfile", "-NonInteractive", "-Command", toast}, []string{"PETRIGATE_NOTIFICATION=" + line}
		}
		return "notify-send", []string{"--app-name=petrigate", "--", title, markup.Replace(line)}, nil
	}
}

// Line returns the text that announces a pending approval.
func Line(id, tool, upstream, principal, client string) string {
	line := "Approval " + text.Excerpt(id, 32) + ": " + text.Excerpt(tool, 80) + " on " + text.Excerpt(upstream, 60)
	if caller := text.Caller(principal, client, 60); caller != "" {
		line += ", by " + caller
	}
	return line
}
