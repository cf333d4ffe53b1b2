package audit_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/serve/audit"
)

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "audit.jsonl")

	log, err := audit.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	if err := log.Append([]byte(`{"decision":"allow","tool":"files.read"}`)); err != nil {
		fmt.Println("the call is refused:", err)
		return
	}
	data, _ := os.ReadFile(path)
	fmt.Print(string(data))
	// Output: {"seq":1,"decision":"allow","tool":"files.read"}
}
