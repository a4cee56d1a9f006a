// Refuses one call of the C library that a coordinator makes, once or from then on, and counts the calls of each kind.
// It is preloaded. REFUSE is "kind:nth:errno:times"; nth 0 refuses none. REFUSE_ROOT is the folder of the test: a file's calls count only
// below it, since the runtime's own files are not ours, and nothing counts before the first of them, which our code opens. REFUSE_COUNTS is
// the file that gets a line "kind count" for each kind at the end, and "refused" when the call was refused.
// .NET finds the functions that its code declares by dlsym on the library's handle, where no preloaded function stands in the way: so dlsym
// is one of ours as well.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN, READ, WRITE, FDATASYNC, FSYNC, RENAME, FLOCK, ALLOCATE, MEMFD, SOCKET, ACCEPT, CONNECT, THREAD, SPAWN, KINDS };
static const char* const names[KINDS] = {"open", "read", "write", "fdatasync", "fsync", "rename", "flock", "allocate",
                                         "memfd", "socket", "accept", "connect", "thread", "spawn"};
#define FILES 65536
static atomic_int counts[KINDS], armed, is_ours[FILES];
static int kind = -1, nth, error_number, times;
static char root[4096], counts_path[4096], ends_path[4104];

static void* real(const char* name)
{
    static void* (*find)(void*, const char*);
    if (!find) find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!find) find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    return find(RTLD_NEXT, name);
}
#define REAL(type, name, ...) \
    static type (*next)(__VA_ARGS__); \
    if (!next) next = real(name)

static void note(const char* text)
{
    static int (*open_real)(const char*, int, ...);
    static ssize_t (*write_real)(int, const void*, size_t);
    if (!open_real) open_real = real("open");
    if (!write_real) write_real = real("write");
    int fd = open_real(counts_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return;
    if (write_real(fd, text, strlen(text)) < 0) abort();
    close(fd);
}

// A call of a kind is about to be made; returns the error with which it fails, or 0.
static int refused(int of)
{
    if (!atomic_load(&armed) || (of == THREAD && nth && !access(ends_path, F_OK))) return 0;
    int count = atomic_fetch_add(&counts[of], 1) + 1;
    if (of != kind || nth == 0 || count < nth || count >= nth + times) return 0;
    if (count == nth) note("refused\n");
    return error_number;
}

static int below(const char* path) { return path && root[0] && strncmp(path, root, strlen(root)) == 0; }

static int ours(int fd) { return fd >= 0 && fd < FILES && atomic_load(&is_ours[fd]); }

#define REFUSE(of) \
    do { int e_ = refused(of); if (e_) { errno = e_; return -1; } } while (0)

__attribute__((constructor)) static void begin(void)
{
    const char* what = getenv("REFUSE"); const char* where = getenv("REFUSE_ROOT"); const char* to = getenv("REFUSE_COUNTS");
    if (!what || !where || !to) return;
    char name[32];
    if (sscanf(what, "%31[^:]:%d:%d:%d", name, &nth, &error_number, &times) != 4) return;
    for (int i = 0; i < KINDS; i++) if (!strcmp(name, names[i])) kind = i;
    snprintf(root, sizeof root, "%s/", where);
    snprintf(counts_path, sizeof counts_path, "%s", to);
    snprintf(ends_path, sizeof ends_path, "%s.ends", counts_path);
    unsetenv("LD_PRELOAD"); unsetenv("REFUSE"); unsetenv("REFUSE_ROOT"); unsetenv("REFUSE_COUNTS"); // the app is not meant
}

__attribute__((destructor)) static void end(void)
{
    if (!counts_path[0]) return;
    char text[64];
    for (int i = 0; i < KINDS; i++)
    {
        snprintf(text, sizeof text, "%s %d\n", names[i], atomic_load(&counts[i]));
        note(text);
    }
}

static int opened(int (*next)(const char*, int, ...), const char* path, int flags, mode_t mode)
{
    if (!below(path)) return next(path, flags, mode);
    atomic_store(&armed, 1);
    REFUSE(OPEN);
    int fd = next(path, flags, mode);
    if (fd >= 0 && fd < FILES) atomic_store(&is_ours[fd], 1);
    return fd;
}
static int my_open(const char* path, int flags, ...)
{
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more);
    REAL(int, "open", const char*, int, ...);
    return opened(next, path, flags, mode);
}
static int my_open64(const char* path, int flags, ...)
{
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more);
    REAL(int, "open64", const char*, int, ...);
    return opened(next, path, flags, mode);
}
static int my_close(int fd)
{
    REAL(int, "close", int);
    if (fd >= 0 && fd < FILES) atomic_store(&is_ours[fd], 0);
    return next(fd);
}
static ssize_t my_pread(int fd, void* to, size_t count, off_t at)
{
    REAL(ssize_t, "pread64", int, void*, size_t, off_t);
    if (ours(fd)) REFUSE(READ);
    return next(fd, to, count, at);
}
static ssize_t my_pwrite(int fd, const void* from, size_t count, off_t at)
{
    REAL(ssize_t, "pwrite64", int, const void*, size_t, off_t);
    if (ours(fd)) REFUSE(WRITE);
    return next(fd, from, count, at);
}
static ssize_t my_pwritev(int fd, const struct iovec* parts, int count, off_t at)
{
    REAL(ssize_t, "pwritev64", int, const struct iovec*, int, off_t);
    if (ours(fd)) REFUSE(WRITE);
    return next(fd, parts, count, at);
}
static int my_fdatasync(int fd) { REAL(int, "fdatasync", int); if (ours(fd)) REFUSE(FDATASYNC); return next(fd); }
static int my_fsync(int fd) { REAL(int, "fsync", int); if (ours(fd)) REFUSE(FSYNC); return next(fd); }
static int my_flock(int fd, int how) { REAL(int, "flock", int, int); if (ours(fd)) REFUSE(FLOCK); return next(fd, how); }
static int my_fallocate(int fd, int mode, off_t at, off_t count)
{
    REAL(int, "fallocate64", int, int, off_t, off_t);
    if (ours(fd)) REFUSE(ALLOCATE);
    return next(fd, mode, at, count);
}
static int my_rename(const char* from, const char* to)
{
    REAL(int, "rename", const char*, const char*);
    if (below(to)) REFUSE(RENAME);
    return next(from, to);
}
static int my_renameat2(int a, const char* from, int b, const char* to, unsigned flags)
{
    REAL(int, "renameat2", int, const char*, int, const char*, unsigned);
    if (below(to)) REFUSE(RENAME);
    return next(a, from, b, to, flags);
}
static int my_memfd_create(const char* name, unsigned flags)
{
    REAL(int, "memfd_create", const char*, unsigned);
    if (!strncmp(name, "ambrosia", 8)) REFUSE(MEMFD); // the runtime makes some, too
    return next(name, flags);
}
static int my_socket(int domain, int type, int protocol)
{
    REAL(int, "socket", int, int, int);
    REFUSE(SOCKET);
    return next(domain, type, protocol);
}
static int my_accept(int fd, struct sockaddr* a, socklen_t* n)
{
    REAL(int, "accept", int, struct sockaddr*, socklen_t*);
    REFUSE(ACCEPT);
    return next(fd, a, n);
}
static int my_accept4(int fd, struct sockaddr* a, socklen_t* n, int flags)
{
    REAL(int, "accept4", int, struct sockaddr*, socklen_t*, int);
    REFUSE(ACCEPT);
    return next(fd, a, n, flags);
}
static int my_connect(int fd, const struct sockaddr* a, socklen_t n)
{
    REAL(int, "connect", int, const struct sockaddr*, socklen_t);
    REFUSE(CONNECT);
    return next(fd, a, n);
}
static int my_pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*run)(void*), void* with)
{
    REAL(int, "pthread_create", pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    int e = refused(THREAD);
    return e ? e : next(t, a, run, with);
}
typedef const posix_spawn_file_actions_t* actions;
typedef const posix_spawnattr_t* attributes;
static int my_posix_spawn(pid_t* p, const char* path, actions f, attributes a, char* const v[], char* const e[])
{
    REAL(int, "posix_spawn", pid_t*, const char*, actions, attributes, char* const[], char* const[]);
    int refusal = refused(SPAWN);
    return refusal ? refusal : next(p, path, f, a, v, e);
}

static const struct { const char* name; void* ours; } table[] = {
    {"open", my_open}, {"open64", my_open64}, {"close", my_close}, {"pread", my_pread}, {"pread64", my_pread}, {"pwrite", my_pwrite},
    {"pwrite64", my_pwrite}, {"pwritev", my_pwritev}, {"pwritev64", my_pwritev}, {"fdatasync", my_fdatasync}, {"fsync", my_fsync},
    {"flock", my_flock}, {"fallocate", my_fallocate}, {"fallocate64", my_fallocate}, {"rename", my_rename}, {"renameat2", my_renameat2},
    {"memfd_create", my_memfd_create}, {"socket", my_socket}, {"accept", my_accept}, {"accept4", my_accept4}, {"connect", my_connect},
    {"pthread_create", my_pthread_create}, {"posix_spawn", my_posix_spawn},
};
void* dlsym(void* library, const char* name)
{
    static void* (*find)(void*, const char*);
    if (!find) find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!find) find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    for (size_t i = 0; counts_path[0] && i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].name)) return table[i].ours;
    return find(library, name);
}

// Who was linked with the library comes here without dlsym.
#define PUBLIC __attribute__((visibility("default")))
PUBLIC int open(const char* path, int flags, ...)
{
    va_list m; va_start(m, flags); mode_t mode = va_arg(m, mode_t); va_end(m);
    return my_open(path, flags, mode);
}
PUBLIC int open64(const char* path, int flags, ...)
{
    va_list m; va_start(m, flags); mode_t mode = va_arg(m, mode_t); va_end(m);
    return my_open64(path, flags, mode);
}
PUBLIC int close(int fd) { return my_close(fd); }
PUBLIC ssize_t pread64(int fd, void* to, size_t count, off_t at) { return my_pread(fd, to, count, at); }
PUBLIC ssize_t pwrite64(int fd, const void* from, size_t count, off_t at) { return my_pwrite(fd, from, count, at); }
PUBLIC int fdatasync(int fd) { return my_fdatasync(fd); }
PUBLIC int fsync(int fd) { return my_fsync(fd); }
PUBLIC int flock(int fd, int how) { return my_flock(fd, how); }
PUBLIC int rename(const char* from, const char* to) { return my_rename(from, to); }
PUBLIC int socket(int domain, int type, int protocol) { return my_socket(domain, type, protocol); }
PUBLIC int accept4(int fd, struct sockaddr* a, socklen_t* n, int flags) { return my_accept4(fd, a, n, flags); }
PUBLIC int connect(int fd, const struct sockaddr* a, socklen_t n) { return my_connect(fd, a, n); }
PUBLIC int pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*run)(void*), void* with)
{
    return my_pthread_create(t, a, run, with);
}
