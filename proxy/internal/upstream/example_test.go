package upstream

import (
	"context"
	"fmt"
	"os"
)

// A tool of a child process is called as soon as the child is up.
func ExampleUpstream_Send() {
	self, _ := os.Executable() // in this example, the program itself is also the server
	u := New(Config{Name: "files", Command: self, Env: map[string]string{roleVariable: "plain"}}, Options{})
	u.Start(context.Background())
	defer u.Close()
	<-u.Settled()
	fmt.Println(u.State().Phase, u.State().ProtocolVersion)
	x := u.Send(Request{Method: "tools/call", Name: "answers", Params: []byte(`{"name":"answers","arguments":{}}`)})
	fmt.Println(string((<-x.Done()).Result))
	// Output:
	// up 2025-06-18
	// {"which":"first"}
}
