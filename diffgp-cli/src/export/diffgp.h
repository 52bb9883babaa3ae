/**
 * diffgp: Gaussian-process models with honest error bars, in fixed memory. docs/c.md shows a whole program.
 *
 *     diffgp_model model;
 *     diffgp_prediction p;
 *     static uint32_t workspace[DIFFGP_WORKSPACE_WORDS(D, M, O)];
 *
 *     if (diffgp_parse(&model, bytes, sizeof bytes) == DIFFGP_OK
 *         && diffgp_predict(&model, x, D, workspace, sizeof workspace, &p) == DIFFGP_OK) {
 *         act(p.output.mean, p.output.std_dev);
 *     }
 *
 * All memory is the caller's: nothing is allocated, there are no globals, and every function may be called from any number of
 * threads as long as they do not share a workspace or an object that is written. Nothing is called back, except a generator of
 * the caller's own and the driver of a flash.
 *
 * Functions return a diffgp_status. Null and misaligned pointers, short workspaces, wrong numbers of values and objects that
 * were never filled are refused by it. What no function can see is the caller's to keep: that a pointer leads to as much memory
 * as its type and length say; that objects that nothing has filled yet are zero where a filled one is expected; and that what an
 * object refers to (a model its bytes; a prediction and a run their model and workspace) stays where it is as long as the object
 * is used.
 *
 * C99 and C++11. Made by `cargo xtask header` of the sources of diffgp-c: change those.
 */

#ifndef DIFFGP_H
#define DIFFGP_H

#include <stddef.h>
#include <stdint.h>

/** Words and bytes of a workspace for models of up to D inputs, M features and O outputs: `diffgp inspect` prints the numbers. */
#define DIFFGP_WORKSPACE_WORDS(D, M, O) (1u + 5u * (D) + (M) + 7u * (O))
#define DIFFGP_WORKSPACE_BYTES(D, M, O) (4u * DIFFGP_WORKSPACE_WORDS(D, M, O))

/**
 * Bytes that are written at a time, at multiples of it: a multiple of what every flash writes. One that writes more at a time
 * has a driver that fills up with ff.
 */
#define DIFFGP_FLASH_WRITE_BYTES 32

/**
 * Size of a diffgp_model.
 */
#define DIFFGP_MODEL_BYTES 264

/**
 * Size of a diffgp_prediction.
 */
#define DIFFGP_PREDICTION_BYTES 104

/**
 * Size of a diffgp_run.
 */
#define DIFFGP_RUN_BYTES 240

/**
 * Size of a diffgp_slots.
 */
#define DIFFGP_SLOTS_BYTES 320

/**
 * Size of a diffgp_update.
 */
#define DIFFGP_UPDATE_BYTES 576

/**
 * The version of this header, as diffgp_version gives it: major, minor and patch in two decimal digits each.
 */
#define DIFFGP_VERSION 100

/**
 * What a function says of its work: zero if it is done, positive if some is left, negative if it was refused.
 */
enum diffgp_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Done.
     */
    DIFFGP_OK = 0,
    /**
     * Work is left: call again.
     */
    DIFFGP_PENDING = 1,
    /**
     * A pointer is null that must not be.
     */
    DIFFGP_ERROR_NULL = -1,
    /**
     * A pointer is not aligned as its type must be: models and workspaces to 4 bytes, objects to 8.
     */
    DIFFGP_ERROR_ALIGNMENT = -2,
    /**
     * A length goes beyond the address space.
     */
    DIFFGP_ERROR_LENGTH = -3,
    /**
     * Two pieces of memory overlap that must not.
     */
    DIFFGP_ERROR_OVERLAP = -4,
    /**
     * The object was never filled, what should have filled it was refused, or it was copied although it must not be.
     */
    DIFFGP_ERROR_OBJECT = -5,
    /**
     * The workspace has been used for something else since, or the slots were changed since: what was in it is gone.
     */
    DIFFGP_ERROR_STALE = -6,
    /**
     * The workspace, or memory for results, is too small.
     */
    DIFFGP_ERROR_CAPACITY = -7,
    /**
     * No such input, output or class.
     */
    DIFFGP_ERROR_INDEX = -8,
    /**
     * The question does not suit the model: a class of real targets, an interval of classes, or a level that is not
     * between 0 and 1.
     */
    DIFFGP_ERROR_KIND = -9,
    /**
     * The input has another number of values than the model takes.
     */
    DIFFGP_ERROR_INPUT_LENGTH = -20,
    /**
     * A value of the input is a NaN or an infinity.
     */
    DIFFGP_ERROR_INPUT_NOT_FINITE = -21,
    /**
     * A sampled prediction over no paths at all.
     */
    DIFFGP_ERROR_NO_PATHS = -22,
    /**
     * The prediction overflowed; no number is better than a wrong one.
     */
    DIFFGP_ERROR_NOT_FINITE = -23,
    /**
     * There are fewer bytes than the model says it has.
     */
    DIFFGP_ERROR_TRUNCATED = -40,
    /**
     * The first four bytes are not those of a model: erased flash, or another file.
     */
    DIFFGP_ERROR_NOT_A_MODEL = -41,
    /**
     * The model was written in another version of the format.
     */
    DIFFGP_ERROR_VERSION = -42,
    /**
     * The checksum does not match: the bytes were damaged after they were written.
     */
    DIFFGP_ERROR_CHECKSUM = -43,
    /**
     * A field of the model has a value outside its limits, or fields contradict each other.
     */
    DIFFGP_ERROR_FIELD = -44,
    /**
     * A tensor of the model is not where it must be, or holds a number that it must not.
     */
    DIFFGP_ERROR_TENSOR = -45,
    /**
     * A path takes more work than the caller allows.
     */
    DIFFGP_ERROR_WORK = -46,
    /**
     * The flash failed: one of its functions said so.
     */
    DIFFGP_ERROR_FLASH = -60,
    /**
     * The slots cannot lie where they were told to, or the pages of the flash are of a size that is not supported.
     */
    DIFFGP_ERROR_LAYOUT = -61,
    /**
     * There is no model in the slots that can be used.
     */
    DIFFGP_ERROR_NO_MODEL = -62,
    /**
     * The model is longer than a slot allows.
     */
    DIFFGP_ERROR_TOO_LONG = -63,
    /**
     * More or fewer bytes were written than the update was begun for, or than the model has.
     */
    DIFFGP_ERROR_UPDATE_LENGTH = -64,
    /**
     * Erased flash does not read as ff: it is locked, or erases to zeros, which is not supported.
     */
    DIFFGP_ERROR_NOT_ERASED = -65,
    /**
     * The last step was not kept: the flash is worn or locked. The model of before is in use.
     */
    DIFFGP_ERROR_NOT_KEPT = -66,
    /**
     * The flash failed in the last step: which model counts will be known after a restart.
     */
    DIFFGP_ERROR_UNKNOWN = -67,
    /**
     * No model is on trial: none was committed, or it was confirmed or taken back.
     */
    DIFFGP_ERROR_NOTHING_ON_TRIAL = -68,
    /**
     * The model in the slot is not the one that the slot's header was written for.
     */
    DIFFGP_ERROR_OTHER_MODEL = -69,
    /**
     * The model is not signed, and only signed ones are taken.
     */
    DIFFGP_ERROR_UNSIGNED = -80,
    /**
     * The model is signed with a key that the program does not know.
     */
    DIFFGP_ERROR_OTHER_KEY = -81,
    /**
     * The signature is not that of this model.
     */
    DIFFGP_ERROR_FORGED = -82,
    /**
     * The model's counter is too small: it is the model in use, or an older one.
     */
    DIFFGP_ERROR_OLDER = -83,
    /**
     * Anything else.
     */
    DIFFGP_ERROR_OTHER = -99,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum diffgp_status diffgp_status;
#else
typedef int32_t diffgp_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a model answers.
 */
enum diffgp_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Real targets, one for every output.
     */
    DIFFGP_KIND_REAL = 0,
    /**
     * Two classes, from one output.
     */
    DIFFGP_KIND_TWO_CLASSES = 1,
    /**
     * Three classes or more, with an output each.
     */
    DIFFGP_KIND_CLASSES = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum diffgp_kind diffgp_kind;
#else
typedef int32_t diffgp_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A parsed model. It borrows the bytes it was parsed from: both stay where they are, unchanged, as long as it is used.
 *
 * Any number of threads may use one model at a time, each with a workspace of its own.
 */
typedef struct {
    /**
     * Not for programs.
     */
    uint64_t opaque[33];
} diffgp_model;

/**
 * Sizes and kind of a model.
 */
typedef struct {
    /**
     * D: values that an input has.
     */
    uint32_t inputs;
    /**
     * M: inducing points of its larger Gaussian process.
     */
    uint32_t features;
    /**
     * O: real targets, or latent functions of classes.
     */
    uint32_t outputs;
    /**
     * Classes; 0 for real targets.
     */
    uint32_t classes;
    /**
     * K: steps of the flow; 0 without one.
     */
    uint32_t steps;
    /**
     * What it answers.
     */
    diffgp_kind kind;
    /**
     * Bytes of the workspace that it needs.
     */
    size_t workspace_bytes;
} diffgp_info;

/**
 * One output of a prediction with its error bar: in the units of the target; of classes, the latent function.
 */
typedef struct {
    /**
     * The mean.
     */
    float mean;
    /**
     * The variance of a new observation.
     */
    float variance;
    /**
     * Its square root.
     */
    float std_dev;
    /**
     * The variance of the underlying function, without noise.
     */
    float latent_variance;
} diffgp_output;

/**
 * A prediction. Its first output, for most models the only one, stands in it; questions about others, intervals and classes
 * go to the workspace, hence only until that is used again. It may be copied.
 */
typedef struct {
    /**
     * The first output.
     */
    diffgp_output output;
    /**
     * Bit i is set if input i lies outside the range seen in training: there the model extrapolates. 0 is good.
     */
    uint64_t out_of_range;
    /**
     * Not for programs.
     */
    uint64_t opaque[10];
} diffgp_prediction;

/**
 * Where the randomness of a sampled prediction comes from. All zeros is a good beginning: seed 0, row 0.
 */
typedef struct {
    /**
     * With the row and the number of a path, the numbers that the path gets: the same on every device and on the workstation
     * (diffgp predict --paths S --seed SEED).
     */
    uint64_t seed;
    /**
     * Count it up from prediction to prediction for independent ones; the workstation's is the number of the row in its table.
     */
    uint32_t row;
    /**
     * A generator of uniform 32-bit words that is used instead, of hardware for example; null for the built-in one.
     */
    uint32_t (*next)(void *context);
    /**
     * What the generator is called with.
     */
    void *context;
} diffgp_noise;

/**
 * A prediction that is made piece by piece. It lives where it was begun: a copy is refused.
 */
typedef struct {
    /**
     * Not for programs.
     */
    uint64_t opaque[30];
} diffgp_run;

/**
 * Two slots in flash, the model in use and the right to change it. It lives where it was opened: a copy is refused.
 */
typedef struct {
    /**
     * Not for programs.
     */
    uint64_t opaque[40];
} diffgp_slots;

/**
 * A flash, and where the two slots for models lie in it. Offsets count from the beginning of the flash.
 *
 * The three functions return 0 if it went well, anything else if the flash failed; they do not call functions of these
 * slots. Erased flash reads as ff. length is at most 512 for write; read may be asked for any bytes.
 */
typedef struct {
    /**
     * Copies bytes from the flash.
     */
    int (*read)(void *context, uint32_t offset, void *bytes, size_t length);
    /**
     * Writes to erased flash; offset and length are multiples of DIFFGP_FLASH_WRITE_BYTES.
     */
    int (*write)(void *context, uint32_t offset, const void *bytes, size_t length);
    /**
     * Erases whole pages: from and to are multiples of erase_bytes.
     */
    int (*erase)(void *context, uint32_t from, uint32_t to);
    /**
     * What the functions are called with.
     */
    void *context;
    /**
     * Bytes of the flash.
     */
    uint32_t bytes;
    /**
     * Bytes of a page, which is erased as a whole: a power of two, at least 32; of unequal pages the largest in the slots.
     */
    uint32_t erase_bytes;
    /**
     * Where the first slot begins, a multiple of erase_bytes; the second one follows it.
     */
    uint32_t start;
    /**
     * Bytes of each slot, a multiple of erase_bytes.
     */
    uint32_t slot_bytes;
    /**
     * The address at which the flash can be read like memory, a multiple of 4; null if it cannot.
     */
    const void *mapped;
    /**
     * Without an address: memory that holds the model in use, aligned to 4 bytes, and its bytes. Null otherwise.
     */
    void *memory;
    /**
     * Bytes of the memory: room for the longest model with its signature.
     */
    size_t memory_bytes;
} diffgp_flash;

/**
 * What a program has room and time for.
 */
typedef struct {
    /**
     * Bytes of its workspace: models that need more are refused.
     */
    size_t workspace_bytes;
    /**
     * The most operations of a path (diffgp_work): models that take more are refused.
     */
    uint64_t operations;
} diffgp_limits;

/**
 * What is known of the slots.
 */
typedef struct {
    /**
     * Why diffgp_slots_open passed over the model that counts most; DIFFGP_OK if it did not.
     */
    diffgp_status refused;
    /**
     * The longest model that a slot can hold, with its signature.
     */
    uint32_t capacity;
    /**
     * The counter of the model in use, if it is signed.
     */
    uint32_t counter;
    /**
     * Whether the model in use is signed.
     */
    uint8_t is_signed;
    /**
     * Whether the model in use was confirmed. A first model is used after the next boot although it was not, because there
     * is no other.
     */
    uint8_t is_confirmed;
    /**
     * Whether the next boot takes another model than the one in use, unless that is confirmed.
     */
    uint8_t is_on_trial;
} diffgp_slots_info;

/**
 * A model on its way into the slot that is not in use: what has not filled a page yet, and where it goes.
 */
typedef struct {
    /**
     * Not for programs.
     */
    uint64_t opaque[72];
} diffgp_update;

/**
 * Which signatures are taken.
 */
typedef struct {
    /**
     * Public keys of 32 bytes each, one behind the other, made by diffgp keygen; several allow for a change of keys. They
     * stay as long as the slots are used.
     */
    const uint8_t *keys;
    /**
     * How many.
     */
    size_t count;
    /**
     * No model with a smaller counter, whatever is in use: the counter of a model that came with the firmware, plus one.
     */
    uint32_t least_counter;
    /**
     * Not zero: verify models at boot too.
     */
    uint8_t also_at_boot;
} diffgp_keys;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Loads a model in place and checks everything once: lengths, limits, numbers, checksum.
 *
 * bytes is where the model file lies, in flash or in RAM, at a multiple of 4. length may be larger than the model (a region
 * of flash). After a refusal the model is empty: functions that are given it return DIFFGP_ERROR_OBJECT.
 */
diffgp_status diffgp_parse(diffgp_model *model,
                           const void *bytes,
                           size_t length);

/**
 * Like diffgp_parse without the two passes over the tensors (checksum, numbers): for devices that wake up often and have
 * parsed these bytes before. Damaged bytes still cause neither a crash nor a NaN in a prediction.
 */
diffgp_status diffgp_parse_trusted(diffgp_model *model,
                                   const void *bytes,
                                   size_t length);

/**
 * Like diffgp_parse, and refuses a model of which one sampled path takes more operations than this (see diffgp_work): for
 * programs that take models from elsewhere and have a deadline.
 */
diffgp_status diffgp_parse_within(diffgp_model *model,
                                  const void *bytes,
                                  size_t length,
                                  uint64_t operations);

/**
 * Sizes and kind of a model.
 */
diffgp_status diffgp_model_info(const diffgp_model *model, diffgp_info *info);

/**
 * What identifies a model: up to 32 bytes, by default a fingerprint of its numbers. They lie in the model's bytes and are no
 * string of C.
 */
diffgp_status diffgp_model_id(const diffgp_model *model,
                              const uint8_t **id,
                              size_t *length);

/**
 * The name of an input, counted from 0; empty if names were stripped from the model. It lies in the model's bytes, is UTF-8,
 * and does not end with a zero.
 */
diffgp_status diffgp_input_name(const diffgp_model *model,
                                size_t index,
                                const char **name,
                                size_t *length);

/**
 * The name of a target, counted from 0: of a real one, or of the column that holds the class. As diffgp_input_name.
 */
diffgp_status diffgp_target_name(const diffgp_model *model,
                                 size_t index,
                                 const char **name,
                                 size_t *length);

/**
 * The name of a class, counted from 0. As diffgp_input_name.
 */
diffgp_status diffgp_class_name(const diffgp_model *model,
                                size_t index,
                                const char **name,
                                size_t *length);

/**
 * The range of an input, counted from 0, that was seen in training.
 */
diffgp_status diffgp_input_range(const diffgp_model *model, size_t index, float *low, float *high);

/**
 * Predicts along the drift alone: one path without noise. Cheap, and close to the sampled mean, but the error bar leaves out
 * the spread of the paths.
 *
 * x has the values of the inputs in their order, in the units of the data. The workspace is any memory of
 * DIFFGP_WORKSPACE_BYTES, aligned to 4 bytes; what was in it does not matter. After a refusal the prediction is empty.
 */
diffgp_status diffgp_predict(const diffgp_model *model,
                             const float *x,
                             size_t inputs,
                             void *workspace,
                             size_t workspace_bytes,
                             diffgp_prediction *prediction);

/**
 * Predicts from sampled paths, in memory that does not grow with their number. A model without a flow has only one path,
 * which is computed once. Otherwise as diffgp_predict.
 */
diffgp_status diffgp_predict_sampled(const diffgp_model *model,
                                     const float *x,
                                     size_t inputs,
                                     uint32_t paths,
                                     const diffgp_noise *noise,
                                     void *workspace,
                                     size_t workspace_bytes,
                                     diffgp_prediction *prediction);

/**
 * An output of a prediction, counted from 0: a real target, or the latent function of a class.
 */
diffgp_status diffgp_get_output(const diffgp_prediction *prediction,
                                size_t index,
                                diffgp_output *output);

/**
 * The central interval that holds a new observation of a real target with this probability (0.9, say): mean minus and plus z
 * standard deviations. index counts the outputs from 0.
 */
diffgp_status diffgp_get_interval(const diffgp_prediction *prediction,
                                  size_t index,
                                  float level,
                                  float *low,
                                  float *high);

/**
 * The most probable class, counted from 0, the first of equals.
 */
diffgp_status diffgp_get_class(const diffgp_prediction *prediction, size_t *number);

/**
 * The probability of every class in order. count is the room there is, at least as many as there are classes.
 */
diffgp_status diffgp_get_probabilities(const diffgp_prediction *prediction,
                                       float *probabilities,
                                       size_t count);

/**
 * Begins what diffgp_predict_sampled does in one go, to be done piece by piece; without noise (null), what diffgp_predict
 * does: then there is one path.
 *
 * x is needed no longer afterwards. The workspace belongs to the run until diffgp_finish; if something else uses it before
 * that, the run is refused with DIFFGP_ERROR_STALE.
 */
diffgp_status diffgp_begin(diffgp_run *run,
                           const diffgp_model *model,
                           const float *x,
                           size_t inputs,
                           uint32_t paths,
                           const diffgp_noise *noise,
                           void *workspace,
                           size_t workspace_bytes);

/**
 * The next piece of work: one output of one Gaussian process, the largest piece there is. DIFFGP_PENDING if some is left,
 * DIFFGP_OK if diffgp_finish has only to collect the prediction. After DIFFGP_ERROR_NOT_FINITE every call says so.
 */
diffgp_status diffgp_advance(diffgp_run *run);

/**
 * The rest of the work, and the prediction, with the bits of diffgp_predict_sampled. The run is over.
 */
diffgp_status diffgp_finish(diffgp_run *run,
                            diffgp_prediction *prediction);

/**
 * Finds the model in use. Writes nothing to the flash. That there is no model is no refusal: diffgp_slots_model says it.
 *
 * flash is copied; what its pointers lead to stays as long as the slots are used. Models that do not keep to the limits are
 * refused, before they are committed and at boot; without limits (null), all are taken.
 */
diffgp_status diffgp_slots_open(diffgp_slots *slots,
                                const diffgp_flash *flash,
                                const diffgp_limits *limits);

/**
 * Where the model in use lies and its bytes, for diffgp_parse_trusted: it was checked. DIFFGP_ERROR_NO_MODEL in new flash, or
 * if no model there can be used.
 *
 * Use it, and what was parsed from it, until the next diffgp_update_begin, diffgp_update_commit or diffgp_slots_take_back:
 * then ask and parse again.
 */
diffgp_status diffgp_slots_model(const diffgp_slots *slots,
                                 const void **bytes,
                                 size_t *length);

/**
 * What is known of the slots and of the model in use.
 */
diffgp_status diffgp_slots_describe(diffgp_slots *slots, diffgp_slots_info *info);

/**
 * Begins to replace the model by one of length bytes, with its signature if it has one: erases the slot that is not in use.
 * A model on trial is taken back first. Nothing else changes until diffgp_update_commit; an update that nobody commits leaves
 * no trace.
 */
diffgp_status diffgp_update_begin(diffgp_update *update,
                                  diffgp_slots *slots,
                                  uint32_t length);

/**
 * Appends bytes of the model, any number of them. After a refusal the update is over: begin another.
 */
diffgp_status diffgp_update_write(diffgp_update *update,
                                  diffgp_slots *slots,
                                  const void *bytes,
                                  size_t length);

/**
 * Checks what is in the flash now and puts it to use, on trial: the next boot finds the model of before, unless
 * diffgp_slots_confirm is called until then. The update is over.
 *
 * After a refusal the model of before is in use, and the next boot finds it too; except after DIFFGP_ERROR_UNKNOWN, which
 * only happens if there was none.
 */
diffgp_status diffgp_update_commit(diffgp_update *update,
                                   diffgp_slots *slots);

/**
 * Keeps the model that was committed since the slots were opened: the next boot finds it, and not the one before. If the
 * flash fails (DIFFGP_ERROR_UNKNOWN), the next boot finds one of the two.
 */
diffgp_status diffgp_slots_confirm(diffgp_slots *slots);

/**
 * Gives up the model on trial and uses the one before it again. Without a model on trial, or without one before it, nothing
 * happens.
 */
diffgp_status diffgp_slots_take_back(diffgp_slots *slots);

/**
 * diffgp_slots_open for a program that takes signed models only: an update must be signed by one of the keys, with a counter
 * larger than that of the model in use. Without keys no update is taken.
 *
 * Verification needs 6 KiB of stack and about 18 KB of flash; a program that does not call this function has none of it. It
 * is the one part of the library that has checks of indices left: should one fail, the library stops in an endless loop.
 */
diffgp_status diffgp_slots_open_signed(diffgp_slots *slots,
                                       const diffgp_flash *flash,
                                       const diffgp_limits *limits,
                                       const diffgp_keys *keys);

/**
 * Whether this public key of 32 bytes has signed this model file with its block of 80 bytes behind it: DIFFGP_OK, or
 * DIFFGP_ERROR_FORGED. The counter is not looked at.
 */
diffgp_status diffgp_is_signed_by(const uint8_t *key,
                                  const void *bytes,
                                  size_t length);

/**
 * A sentence in English about a status, for logs; of any number, never null.
 */
const char *diffgp_status_text(int32_t status);

/**
 * The version of the library: equal to DIFFGP_VERSION if header and library belong together.
 */
uint32_t diffgp_version(void);

/**
 * What a prediction takes along the drift, and on one sampled path: multiply-adds that take about as long on a core with
 * floating-point hardware, 2.4 instructions each. It does not depend on the input. Looks at every record of the model.
 */
diffgp_status diffgp_work(const diffgp_model *model,
                          uint64_t *drift,
                          uint64_t *path);

/**
 * What DIFFGP_WORKSPACE_BYTES says, at run time: bytes of a workspace for up to this many inputs, features and outputs. 0 if
 * no model has as many.
 */
size_t diffgp_workspace_bytes(size_t inputs,
                              size_t features,
                              size_t outputs);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DIFFGP_H */
/* sources d97d5b67, header c5ec6bc5 */
