package cel

import "testing"

func TestWithin(t *testing.T) {
	const ws = "/workspace"
	tests := []struct {
		path, dir string
		want      bool
	}{
		{"/workspace/a", ws, true},
		{"/workspace", ws, true},
		{"/workspace/", ws, true},
		{"/workspace/a/../b", ws, true},
		{"/workspace//a/./b", "/workspace/", true},
		{"/workspace/..", ws, false},
		{"/workspace/../etc/passwd", ws, false},
		{"/workspace/a/../../etc/passwd", ws, false},
		{"/workspace/./../etc/passwd", ws, false},
		{"/workspacex/a", ws, false},
		{"/work", ws, false},
		{"workspace/a", ws, false},
		{"../workspace/a", ws, false},
		{"", ws, false},
		{"/workspace/a", "", false},
		{"/workspace/a\x00/../../etc", ws, false},
		{`/workspace/..\..\etc\passwd`, ws, false},
		{`/workspace\..\..\etc`, ws, false},
		{`/workspace/a\b`, ws, true},
		{"/workspace/.. /etc", ws, false},
		{"/workspace/.../etc", ws, false},
		{"/workspace/..a/b", ws, true},
		{"//workspace/a", ws, false},
		{"~/a", ".", false},
		{"~root/a", ".", false},
		{"a/b", ".", true},
		{"a/../..", ".", false},
		{"..", ".", false},
		{"src/a", "src", true},
		{"src/../a", "src", false},
		{"../a", "..", true},
		{"../../a", "..", false},
		{"/etc", "/", true},
		{"etc", "/", false},
		{`C:\work\a`, `C:\work`, true},
		{`c:\work\a`, `C:/work`, true},
		{`C:\work\..\Windows`, `C:\work`, false},
		{`D:\work\a`, `C:\work`, false},
		{`C:evil`, ".", false},
		{`\\server\share\a`, "/server", false},
	}
	for _, test := range tests {
		if got := within(test.path, test.dir); got != test.want {
			t.Errorf("within(%q, %q) = %v", test.path, test.dir, got)
		}
	}
}
