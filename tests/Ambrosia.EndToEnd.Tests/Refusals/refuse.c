// Refuses one call of the C library that a coordinator makes, once or from then on, and counts the calls of each kind.
// It is preloaded. REFUSE is "kind:nth:errno:times"; nth 0 refuses none, and errno 0 is a call that does half of what it was asked.
// REFUSE_ROOT is the folder of the test: a file's calls count only below it, since the runtime's own files are not ours, and nothing counts
// before the first of them, which our code opens. REFUSE_COUNTS is the file that gets a line "kind count" for each kind at the end, and
// "refused" when the call was refused.
// .NET finds the functions that its code declares by dlsym on the library's handle, where no preloaded function stands in the way: so dlsym
// is one of ours as well.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    OPEN, READ, WRITE, FDATASYNC, FSYNC, RENAME, FLOCK, ALLOCATE, TRUNCATE, SEEK, STAT, SPACE, LIST, MAKE, UNLINK, LINK, MAP, MEMFD,
    SOCKET, BIND, LISTEN, SOCKOPT, ACCEPT, CONNECT, RECEIVE, SEND, POLL, THREAD, SPAWN, KINDS
};
static const char* const names[KINDS] = {
    "open", "read", "write", "fdatasync", "fsync", "rename", "flock", "allocate", "truncate", "seek", "stat", "space", "list", "make",
    "unlink", "link", "map", "memfd",
    "socket", "bind", "listen", "sockopt", "accept", "connect", "receive", "send", "poll", "thread", "spawn"
};
#define FILES 65536
static atomic_int counts[KINDS], armed, is_ours[FILES];
static int kind = -1, nth, error_number, times;
enum { SHORT = -1 }; // of a transfer: it does half of what it was asked
static char root[4096], counts_path[4096], ends_path[4104];

static void* real(const char* name)
{
    static void* (*find)(void*, const char*);
    if (!find) find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!find) find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    return find(RTLD_NEXT, name);
}
#define PUBLIC __attribute__((visibility("default")))
#define SAME(type, name, as, ...) PUBLIC __attribute__((alias(#as))) type name(__VA_ARGS__)
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

// A call of a kind is about to be made; returns the error with which it fails, SHORT, or 0.
static int refused(int of)
{
    if (!atomic_load(&armed) || (of == THREAD && nth && !access(ends_path, F_OK))) return 0;
    int count = atomic_fetch_add(&counts[of], 1) + 1;
    if (of != kind || nth == 0 || count < nth || count >= nth + times) return 0;
    if (count == nth) note("refused\n");
    return error_number ? error_number : SHORT;
}

static int below(const char* path) { return path && root[0] && strncmp(path, root, strlen(root)) == 0; }

static int ours(int fd) { return fd >= 0 && fd < FILES && atomic_load(&is_ours[fd]); }

#define REFUSE(of) \
    do { int e_ = refused(of); if (e_ > 0) { errno = e_; return -1; } } while (0)
#define TRANSFER(of, count) \
    do { int e_ = refused(of); if (e_ > 0) { errno = e_; return -1; } if (e_ == SHORT && (count) > 1) (count) /= 2; } while (0)

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
PUBLIC int open(const char* path, int flags, ...)
{
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more);
    REAL(int, "open", const char*, int, ...);
    return opened(next, path, flags, mode);
}
SAME(int, open64, open, const char*, int, ...);
PUBLIC int close(int fd)
{
    REAL(int, "close", int);
    if (fd >= 0 && fd < FILES) atomic_store(&is_ours[fd], 0);
    return next(fd);
}
PUBLIC ssize_t pread(int fd, void* to, size_t count, off_t at)
{
    REAL(ssize_t, "pread64", int, void*, size_t, off_t);
    if (ours(fd)) TRANSFER(READ, count);
    return next(fd, to, count, at);
}
SAME(ssize_t, pread64, pread, int, void*, size_t, off64_t);
PUBLIC ssize_t pwrite(int fd, const void* from, size_t count, off_t at)
{
    REAL(ssize_t, "pwrite64", int, const void*, size_t, off_t);
    if (ours(fd)) TRANSFER(WRITE, count);
    return next(fd, from, count, at);
}
SAME(ssize_t, pwrite64, pwrite, int, const void*, size_t, off64_t);
PUBLIC ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t at)
{
    REAL(ssize_t, "pwritev64", int, const struct iovec*, int, off_t);
    if (ours(fd)) TRANSFER(WRITE, count);
    return next(fd, parts, count, at);
}
SAME(ssize_t, pwritev64, pwritev, int, const struct iovec*, int, off64_t);
PUBLIC int fdatasync(int fd) { REAL(int, "fdatasync", int); if (ours(fd)) REFUSE(FDATASYNC); return next(fd); }
PUBLIC int fsync(int fd) { REAL(int, "fsync", int); if (ours(fd)) REFUSE(FSYNC); return next(fd); }
PUBLIC int flock(int fd, int how) { REAL(int, "flock", int, int); if (ours(fd)) REFUSE(FLOCK); return next(fd, how); }
PUBLIC int fallocate(int fd, int mode, off_t at, off_t count)
{
    REAL(int, "fallocate64", int, int, off_t, off_t);
    if (ours(fd)) REFUSE(ALLOCATE);
    return next(fd, mode, at, count);
}
SAME(int, fallocate64, fallocate, int, int, off64_t, off64_t);
PUBLIC int ftruncate(int fd, off_t length)
{
    REAL(int, "ftruncate64", int, off_t);
    if (ours(fd)) REFUSE(TRUNCATE);
    return next(fd, length);
}
SAME(int, ftruncate64, ftruncate, int, off64_t);
PUBLIC off_t lseek(int fd, off_t at, int whence)
{
    REAL(off_t, "lseek64", int, off_t, int);
    if (ours(fd) && (whence == SEEK_DATA || whence == SEEK_HOLE)) REFUSE(SEEK); // others do not ask the disk
    return next(fd, at, whence);
}
SAME(off64_t, lseek64, lseek, int, off64_t, int);
PUBLIC int statx(int directory, const char* path, int flags, unsigned mask, struct statx* status)
{
    REAL(int, "statx", int, const char*, int, unsigned, struct statx*);
    if (below(path) || ours(directory)) REFUSE(STAT);
    return next(directory, path, flags, mask, status);
}
PUBLIC int stat64(const char* path, struct stat64* status)
{
    REAL(int, "stat64", const char*, struct stat64*);
    if (below(path)) REFUSE(STAT);
    return next(path, status);
}
PUBLIC int lstat64(const char* path, struct stat64* status)
{
    REAL(int, "lstat64", const char*, struct stat64*);
    if (below(path)) REFUSE(STAT);
    return next(path, status);
}
PUBLIC int fstat64(int fd, struct stat64* status)
{
    REAL(int, "fstat64", int, struct stat64*);
    if (ours(fd)) REFUSE(STAT);
    return next(fd, status);
}
PUBLIC int statvfs(const char* path, struct statvfs* status)
{
    REAL(int, "statvfs", const char*, struct statvfs*);
    REFUSE(SPACE); // a directory is named without the slash behind it, too
    return next(path, status);
}
PUBLIC DIR* opendir(const char* path)
{
    REAL(DIR*, "opendir", const char*);
    int e = root[0] && strncmp(path, root, strlen(root) - 1) == 0 ? refused(LIST) : 0;
    if (e > 0) errno = e;
    return e > 0 ? NULL : next(path);
}
PUBLIC int mkdir(const char* path, mode_t mode)
{
    REAL(int, "mkdir", const char*, mode_t);
    if (below(path)) REFUSE(MAKE);
    return next(path, mode);
}
PUBLIC int unlink(const char* path)
{
    REAL(int, "unlink", const char*);
    if (below(path)) REFUSE(UNLINK);
    return next(path);
}
PUBLIC int link(const char* from, const char* to)
{
    REAL(int, "link", const char*, const char*);
    if (below(to)) REFUSE(LINK);
    return next(from, to);
}
PUBLIC void* mmap(void* at, size_t count, int protection, int flags, int fd, off_t from)
{
    REAL(void*, "mmap64", void*, size_t, int, int, int, off_t);
    int e = ours(fd) ? refused(MAP) : 0;
    if (e > 0) errno = e;
    return e > 0 ? MAP_FAILED : next(at, count, protection, flags, fd, from);
}
SAME(void*, mmap64, mmap, void*, size_t, int, int, int, off64_t);
// What our code alone asks for: the runtime does not come by dlsym.
static void* our_mmap(void* at, size_t count, int protection, int flags, int fd, off_t from)
{
    REAL(void*, "mmap64", void*, size_t, int, int, int, off_t);
    int e = refused(MAP);
    if (e > 0) errno = e;
    return e > 0 ? MAP_FAILED : next(at, count, protection, flags, fd, from);
}
PUBLIC int rename(const char* from, const char* to)
{
    REAL(int, "rename", const char*, const char*);
    if (below(to)) REFUSE(RENAME);
    return next(from, to);
}
PUBLIC int renameat2(int a, const char* from, int b, const char* to, unsigned flags)
{
    REAL(int, "renameat2", int, const char*, int, const char*, unsigned);
    if (below(to)) REFUSE(RENAME);
    return next(a, from, b, to, flags);
}
PUBLIC int memfd_create(const char* name, unsigned flags)
{
    REAL(int, "memfd_create", const char*, unsigned);
    if (strncmp(name, "ambrosia", 8)) return next(name, flags); // the runtime makes some, too
    REFUSE(MEMFD);
    int fd = next(name, flags);
    if (fd >= 0 && fd < FILES) atomic_store(&is_ours[fd], 1);
    return fd;
}
PUBLIC int socket(int domain, int type, int protocol)
{
    REAL(int, "socket", int, int, int);
    REFUSE(SOCKET);
    return next(domain, type, protocol);
}
PUBLIC int bind(int fd, const struct sockaddr* a, socklen_t n)
{
    REAL(int, "bind", int, const struct sockaddr*, socklen_t);
    REFUSE(BIND);
    return next(fd, a, n);
}
PUBLIC int listen(int fd, int backlog) { REAL(int, "listen", int, int); REFUSE(LISTEN); return next(fd, backlog); }
PUBLIC int setsockopt(int fd, int level, int name, const void* value, socklen_t n)
{
    REAL(int, "setsockopt", int, int, int, const void*, socklen_t);
    REFUSE(SOCKOPT);
    return next(fd, level, name, value, n);
}
PUBLIC int getsockopt(int fd, int level, int name, void* value, socklen_t* n)
{
    REAL(int, "getsockopt", int, int, int, void*, socklen_t*);
    REFUSE(SOCKOPT);
    return next(fd, level, name, value, n);
}
PUBLIC ssize_t recv(int fd, void* to, size_t count, int flags)
{
    REAL(ssize_t, "recv", int, void*, size_t, int);
    TRANSFER(RECEIVE, count);
    return next(fd, to, count, flags);
}
PUBLIC ssize_t recvmsg(int fd, struct msghdr* message, int flags)
{
    REAL(ssize_t, "recvmsg", int, struct msghdr*, int);
    REFUSE(RECEIVE);
    return next(fd, message, flags);
}
PUBLIC ssize_t send(int fd, const void* from, size_t count, int flags)
{
    REAL(ssize_t, "send", int, const void*, size_t, int);
    TRANSFER(SEND, count);
    return next(fd, from, count, flags);
}
PUBLIC ssize_t sendmsg(int fd, const struct msghdr* message, int flags)
{
    REAL(ssize_t, "sendmsg", int, const struct msghdr*, int);
    REFUSE(SEND);
    return next(fd, message, flags);
}
PUBLIC int poll(struct pollfd* of, nfds_t count, int milliseconds)
{
    REAL(int, "poll", struct pollfd*, nfds_t, int);
    REFUSE(POLL);
    return next(of, count, milliseconds);
}
PUBLIC int accept(int fd, struct sockaddr* a, socklen_t* n)
{
    REAL(int, "accept", int, struct sockaddr*, socklen_t*);
    REFUSE(ACCEPT);
    return next(fd, a, n);
}
PUBLIC int accept4(int fd, struct sockaddr* a, socklen_t* n, int flags)
{
    REAL(int, "accept4", int, struct sockaddr*, socklen_t*, int);
    REFUSE(ACCEPT);
    return next(fd, a, n, flags);
}
PUBLIC int connect(int fd, const struct sockaddr* a, socklen_t n)
{
    REAL(int, "connect", int, const struct sockaddr*, socklen_t);
    REFUSE(CONNECT);
    return next(fd, a, n);
}
PUBLIC int pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*run)(void*), void* with)
{
    REAL(int, "pthread_create", pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    int e = refused(THREAD);
    return e ? e : next(t, a, run, with);
}
typedef const posix_spawn_file_actions_t* actions;
typedef const posix_spawnattr_t* attributes;
PUBLIC int posix_spawn(pid_t* p, const char* path, actions f, attributes a, char* const v[], char* const e[])
{
    REAL(int, "posix_spawn", pid_t*, const char*, actions, attributes, char* const[], char* const[]);
    int refusal = refused(SPAWN);
    return refusal ? refusal : next(p, path, f, a, v, e);
}

static const struct { const char* name; void* ours; } table[] = {
    {"open", open}, {"open64", open64}, {"close", close}, {"pread", pread}, {"pread64", pread64}, {"pwrite", pwrite},
    {"pwrite64", pwrite64}, {"pwritev", pwritev}, {"pwritev64", pwritev64}, {"fdatasync", fdatasync}, {"fsync", fsync},
    {"flock", flock}, {"fallocate", fallocate}, {"fallocate64", fallocate64}, {"rename", rename}, {"renameat2", renameat2},
    {"ftruncate", ftruncate}, {"ftruncate64", ftruncate64}, {"lseek", lseek}, {"lseek64", lseek64}, {"statx", statx},
    {"statvfs", statvfs}, {"unlink", unlink}, {"link", link}, {"mmap", our_mmap}, {"mmap64", our_mmap},
    {"memfd_create", memfd_create}, {"socket", socket}, {"accept", accept}, {"accept4", accept4}, {"connect", connect},
    {"send", send}, {"poll", poll}, {"pthread_create", pthread_create}, {"posix_spawn", posix_spawn},
};
PUBLIC void* dlsym(void* library, const char* name)
{
    static void* (*find)(void*, const char*);
    if (!find) find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!find) find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    for (size_t i = 0; counts_path[0] && i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].name)) return table[i].ours;
    return find(library, name);
}
