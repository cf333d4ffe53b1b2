package leftover

import (
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

// TestFind checks that goroutines that end are waited for, and that those that do not end are
// listed.
func TestFind(t *testing.T) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		<-end
	}()
	if err := find(0); err == nil || !strings.Contains(err.Error(), "leftover.TestFind.func1") {
		t.Errorf("of a goroutine that stays it says: %v", err)
	}
	close(end)
	<-ended
	if err := find(patience); err != nil {
		t.Error(err)
	}
}
