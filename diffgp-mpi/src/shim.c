/* What diffgp needs of MPI, as plain functions: communicators, datatypes and requests are of different types in OpenMPI and
 * MPICH, and macros in both, so they stay on this side.
 *
 * Every function returns MPI_SUCCESS, or an error that diffgp_mpi_message puts into words. Nothing here waits in MPI itself:
 * requests are tested and the processor is given away in between, so that more ranks than cores do not block each other,
 * and a rank that waits long does not keep a core busy. */

#define _POSIX_C_SOURCE 200809L

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Ours, so that nothing else on MPI_COMM_WORLD can meet our messages; and one for the end alone. */
static MPI_Comm ours = MPI_COMM_NULL;
static MPI_Comm at_end = MPI_COMM_NULL;

/* Nothing has an address too: that of Rust is 1, which OpenMPI takes for MPI_IN_PLACE. */
static char nothing;

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Waits for a request: at most so many seconds, or for ever if they are negative. `*done` says whether it has ended. */
static int wait_for(MPI_Request *request, double seconds, int *done) {
    double start = 0.0;
    for (long turn = 0;; turn++) {
        int error = MPI_Test(request, done, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS || *done) {
            return error;
        }
        if (turn < 1000) {
            continue;
        }
        double now = seconds_now();
        if (turn == 1000) {
            start = now;
        }
        double waited = now - start;
        if (seconds >= 0.0 && waited > seconds) {
            return MPI_SUCCESS;
        }
        if (waited < 0.1) {
            sched_yield();
        } else {
            struct timespec pause = {0, waited < 2.0 ? 50000 : 1000000};
            nanosleep(&pause, NULL);
        }
    }
}

static int wait_till_done(int error, MPI_Request *request) {
    int done = 0;
    return error == MPI_SUCCESS ? wait_for(request, -1.0, &done) : error;
}

/* Starts MPI. `*serialized` says whether any thread may call it, one at a time. */
int diffgp_mpi_begin(int *rank, int *size, int *serialized) {
    int provided = MPI_THREAD_SINGLE;
    int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    if (error != MPI_SUCCESS) {
        return error;
    }
    *serialized = provided >= MPI_THREAD_SERIALIZED;
    error = MPI_Comm_dup(MPI_COMM_WORLD, &ours);
    if (error == MPI_SUCCESS) {
        error = MPI_Comm_dup(MPI_COMM_WORLD, &at_end);
    }
    if (error == MPI_SUCCESS) {
        error = MPI_Comm_set_errhandler(ours, MPI_ERRORS_RETURN);
    }
    if (error == MPI_SUCCESS) {
        error = MPI_Comm_set_errhandler(at_end, MPI_ERRORS_RETURN);
    }
    if (error == MPI_SUCCESS) {
        error = MPI_Comm_rank(ours, rank);
    }
    return error == MPI_SUCCESS ? MPI_Comm_size(ours, size) : error;
}

/* Of this and what follows, `count` is more than zero where nothing else is said. */
int diffgp_mpi_send(const void *bytes, int count, int to) {
    MPI_Request request;
    return wait_till_done(MPI_Isend(bytes, count, MPI_BYTE, to, 0, ours, &request), &request);
}

int diffgp_mpi_receive(void *bytes, int count, int from) {
    MPI_Request request;
    return wait_till_done(MPI_Irecv(bytes, count, MPI_BYTE, from, 0, ours, &request), &request);
}

int diffgp_mpi_broadcast(void *bytes, int count, int from) {
    MPI_Request request;
    return wait_till_done(MPI_Ibcast(bytes, count, MPI_BYTE, from, ours, &request), &request);
}

/* As many bytes of every rank. */
int diffgp_mpi_all_gather(const void *own, int count, void *all) {
    MPI_Request request;
    int error = MPI_Iallgather(own, count, MPI_BYTE, all, count, MPI_BYTE, ours, &request);
    return wait_till_done(error, &request);
}

/* `counts[r]` bytes of rank r, which may be none, to be put at `places[r]`; of some rank there are some. */
int diffgp_mpi_all_gather_some(const void *own, int count, void *all, const int *counts, const int *places) {
    MPI_Request request;
    const void *start = count > 0 ? own : &nothing;
    int error = MPI_Iallgatherv(start, count, MPI_BYTE, all, counts, places, MPI_BYTE, ours, &request);
    return wait_till_done(error, &request);
}

/* Waits until all ranks have come here, at most so many seconds (for ever if negative). `*ended` says whether they have. */
int diffgp_mpi_end(double seconds, int *ended) {
    MPI_Request request;
    int error = MPI_Ibarrier(at_end, &request);
    return error == MPI_SUCCESS ? wait_for(&request, seconds, ended) : error;
}

int diffgp_mpi_finalize(void) {
    return MPI_Finalize();
}

/* Ends all ranks; does not return. */
void diffgp_mpi_abort(int code) {
    MPI_Abort(MPI_COMM_WORLD, code);
    _Exit(code);
}

int diffgp_mpi_success(void) {
    return MPI_SUCCESS;
}

/* Writes a text that ends with a zero, of at most `room` bytes with it. */
void diffgp_mpi_machine(char *text, int room) {
    char name[MPI_MAX_PROCESSOR_NAME + 1] = {0};
    int length = 0;
    if (MPI_Get_processor_name(name, &length) != MPI_SUCCESS) {
        name[0] = 0;
    }
    strncpy(text, name, (size_t)room - 1);
    text[room - 1] = 0;
}

void diffgp_mpi_message(int error, char *text, int room) {
    char message[MPI_MAX_ERROR_STRING + 1] = {0};
    int length = 0;
    if (MPI_Error_string(error, message, &length) != MPI_SUCCESS) {
        strcpy(message, "an unknown error");
    }
    strncpy(text, message, (size_t)room - 1);
    text[room - 1] = 0;
}

/* What it is, as it says itself. */
void diffgp_mpi_library(char *text, int room) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {0};
    int length = 0;
    if (MPI_Get_library_version(version, &length) != MPI_SUCCESS) {
        version[0] = 0;
    }
    strncpy(text, version, (size_t)room - 1);
    text[room - 1] = 0;
}
