package sqlite_test

import (
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The file system below is the system's own, except that the operation it is told to fail fails. SQLite
// keeps its file systems for the whole process, so this state does too.
const faultyVFS = "faulty"

var faults struct {
	sync.Mutex
	registered bool
	open       uintptr             // the system's xOpen
	methods    map[uintptr]uintptr // ours, by the system's
	system     map[uintptr]uintptr // the system's, by ours
	kind       opKind
	after      int // operations of kind that still succeed; below zero all fail
	always     bool
	code       int32 // 0: nothing fails
	hit        bool
}

type opKind string

const (
	opWrite    opKind = "write"
	opSync     opKind = "sync"
	opTruncate opKind = "truncate"
)

// arm makes the operation after the first n of a kind fail, or all after them.
func arm(kind opKind, n int, always bool, code int32) {
	faults.Lock()
	defer faults.Unlock()
	faults.kind, faults.after, faults.always, faults.code, faults.hit = kind, n, always, code, false
}

// disarm ends all failing, and says whether anything failed.
func disarm() bool {
	faults.Lock()
	defer faults.Unlock()
	faults.code = 0
	return faults.hit
}

func failing(kind opKind) int32 {
	faults.Lock()
	defer faults.Unlock()
	if faults.code == 0 || faults.kind != kind {
		return 0
	}
	faults.after--
	if faults.after == -1 || faults.after < 0 && faults.always {
		faults.hit = true
		return faults.code
	}
	return 0
}

// at reads the C struct at an address.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

func callable[F any](p uintptr) F {
	holder := &struct{ uintptr }{p}
	return *(*F)(unsafe.Pointer(holder))
}

func clone[T any](tls *libc.TLS, original uintptr) uintptr {
	var t T
	c := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(t)))
	*at[T](c) = *at[T](original)
	return c
}

func registerFaultyVFS(t *testing.T) {
	t.Helper()
	faults.Lock()
	defer faults.Unlock()
	if faults.registered {
		return
	}
	tls := libc.NewTLS()
	defer tls.Close()
	sqlite3.Xsqlite3_initialize(tls)
	vfs := clone[sqlite3.Tsqlite3_vfs](tls, sqlite3.Xsqlite3_vfs_find(tls, 0))
	name, err := libc.CString(faultyVFS)
	if err != nil {
		t.Fatal(err)
	}
	faults.methods, faults.system = map[uintptr]uintptr{}, map[uintptr]uintptr{}
	faults.open = at[sqlite3.Tsqlite3_vfs](vfs).FxOpen
	at[sqlite3.Tsqlite3_vfs](vfs).FzName = name
	at[sqlite3.Tsqlite3_vfs](vfs).FpNext = 0
	at[sqlite3.Tsqlite3_vfs](vfs).FxOpen = pointer(faultyOpen)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, vfs, 0); rc != 0 {
		t.Fatalf("SQLite refused the file system: %d", rc)
	}
	faults.registered = true
}

type openFunc = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32

func faultyOpen(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	rc := callable[openFunc](faults.open)(tls, vfs, name, file, flags, out)
	f := at[sqlite3.Tsqlite3_file](file)
	if rc != 0 || f.FpMethods == 0 {
		return rc
	}
	faults.Lock()
	defer faults.Unlock()
	ours, ok := faults.methods[f.FpMethods]
	if !ok {
		ours = clone[sqlite3.Tsqlite3_io_methods](tls, f.FpMethods)
		m := at[sqlite3.Tsqlite3_io_methods](ours)
		m.FxWrite, m.FxSync, m.FxTruncate = pointer(faultyWrite), pointer(faultySync), pointer(faultyTruncate)
		faults.methods[f.FpMethods], faults.system[ours] = ours, f.FpMethods
	}
	f.FpMethods = ours
	return rc
}

func system(file uintptr) *sqlite3.Tsqlite3_io_methods {
	faults.Lock()
	defer faults.Unlock()
	return at[sqlite3.Tsqlite3_io_methods](faults.system[at[sqlite3.Tsqlite3_file](file).FpMethods])
}

func faultyWrite(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	if rc := failing(opWrite); rc != 0 {
		return rc
	}
	return callable[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](system(file).FxWrite)(tls, file, data, n, offset)
}

func faultySync(tls *libc.TLS, file uintptr, flags int32) int32 {
	if rc := failing(opSync); rc != 0 {
		return rc
	}
	return callable[func(*libc.TLS, uintptr, int32) int32](system(file).FxSync)(tls, file, flags)
}

func faultyTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	if rc := failing(opTruncate); rc != 0 {
		return rc
	}
	return callable[func(*libc.TLS, uintptr, int64) int32](system(file).FxTruncate)(tls, file, size)
}
