package listing

import "fmt"

// Crowded is the most of those numbers of tools that n is over, from which on
// known clients do worse, or take no more.
func Crowded(n int) (warning string) {
	for _, c := range [...]struct {
		more    int
		clients string
	}{
		{40, "Cursor chooses worse among so many"},
		{100, "Windsurf takes no more, and Cursor chooses worse among so many"},
		{128, "VS Code sends no more to a model, its own among them, Windsurf takes 100, and Cursor chooses worse among so many"},
	} {
		if n > c.more {
			warning = fmt.Sprintf("more than %d tools are listed: %s; tools.allow and tools.deny of a server leave out what is not needed", c.more, c.clients)
		}
	}
	return warning
}
