package oauth

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
)

// OpenBrowser shows a page to the user. Its address goes to the browser as an argument, and
// through no shell: the authorization server has a say in it.
func OpenBrowser(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("the page to open is none of the web")
	}
	argv := browser(runtime.GOOS, os.Getenv("BROWSER"))
	c := exec.Command(argv[0], append(argv[1:], u.String())...)
	if err := c.Start(); err != nil {
		return fmt.Errorf("opening the browser: %w (petrigate login --no-browser prints the address)", err)
	}
	go func() { _ = c.Wait() }() // some stay as long as the window
	return nil
}

// browser is the program that opens a page.
func browser(system, chosen string) []string {
	switch {
	case chosen != "":
		return []string{chosen}
	case system == "darwin":
		return []string{"open"}
	case system == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}
