/* The part of libneuralnetworks.so that is the same for all functions. The rest is written by source.py: the
 * types, `struct functions`, the constants below in capitals, and one exported function for every NNAPI
 * function that calls its entry of the table.
 *
 * The library is not linked to Python. The first call finds the interpreter of the process, or else opens
 * libpython and starts one, and has Python code fill the table. Linking would break clients that are written
 * in Python, and those that load the library with RTLD_LOCAL: Python's extension modules need Python's
 * symbols in the global scope.
 */

typedef int python_state;

static struct {
    int (*is_initialized)(void);
    void (*initialize)(int installs_signal_handlers);
    python_state (*ensure)(void);
    void (*release)(python_state);
    int (*holds_lock)(void);
    void *(*save_thread)(void);
    void (*restore_thread)(void *);
    int (*run)(const char *, void *compiler_flags);
    wchar_t *(*decode)(const char *, size_t *);
    void (*set_program_name)(const wchar_t *);
} python;

static struct functions table;
static atomic_bool is_filled;

static void complain(const char *reason)
{
    fprintf(stderr, "libneuralnetworks.so: npu-sim cannot be started: %s\n", reason);
}

/* Python's functions, in the scope of a handle; false if a necessary one is missing. */
static bool find_functions(void *scope)
{
    const struct {
        void *place;
        const char *name;
    } wanted[] = {
        {&python.is_initialized, "Py_IsInitialized"},
        {&python.initialize, "Py_InitializeEx"},
        {&python.ensure, "PyGILState_Ensure"},
        {&python.release, "PyGILState_Release"},
        {&python.holds_lock, "PyGILState_Check"},
        {&python.save_thread, "PyEval_SaveThread"},
        {&python.restore_thread, "PyEval_RestoreThread"},
        {&python.run, "PyRun_SimpleStringFlags"},
        {&python.decode, "Py_DecodeLocale"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(scope, wanted[i].name);
        if (found == NULL)
            return false;
        memcpy(wanted[i].place, &found, sizeof found);
    }
    void *found = dlsym(scope, "Py_SetProgramName");
    memcpy(&python.set_program_name, &found, sizeof found);
    return true;
}

/* Find Python in the process, or open it; false after a complaint. */
static bool find_python(void)
{
    if (find_functions(RTLD_DEFAULT))
        return true;
    if (*LIBPYTHON == '\0') {
        complain("the process has no Python, and " EXECUTABLE
                 " has no shared libpython (a build with --enable-shared has)");
        return false;
    }
    /* A libpython that someone loaded with RTLD_LOCAL is made global, not loaded a second time. */
    void *library = dlopen(LIBPYTHON_NAME, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    if (library == NULL)
        library = dlopen(LIBPYTHON, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        complain(dlerror());
        return false;
    }
    if (!find_functions(library)) {
        complain(LIBPYTHON " lacks functions of Python's C interface");
        return false;
    }
    return true;
}

/* Run the Python code that fills the table; it complains itself. Needs Python's lock. */
static void fill_table(bool is_own_interpreter)
{
    size_t size = sizeof START_CODE + 64;
    char *code = malloc(size);
    if (code == NULL) {
        complain("out of memory");
        return;
    }
    snprintf(code, size, "exec(%s, {'table': %zu, 'is_own_interpreter': %d})", START_CODE, (size_t)&table,
             is_own_interpreter);
    python.run(code, NULL);
    free(code);
    /* The last thing that Python sets; without it the table is not complete. */
    atomic_store(&is_filled, table.is_complete != 0);
}

static void at_exit(void)
{
    table.at_exit();
}

/* Start an interpreter of our own. It is never ended: another thread may be inside it at any time. */
/* Start Python as it was when the library was built: a PYTHONHOME of the client is meant for another one, and
 * Python ends the process when it does not find its libraries there. */
static void initialize_python(void)
{
    const char *home = getenv("PYTHONHOME");
    char *kept = home != NULL ? strdup(home) : NULL;
    unsetenv("PYTHONHOME");
    python.initialize(0);
    if (kept != NULL)
        setenv("PYTHONHOME", kept, 1);
    free(kept);
}

static void start_interpreter(void)
{
    wchar_t *name = python.decode(EXECUTABLE, NULL);
    if (python.set_program_name != NULL && name != NULL)
        python.set_program_name(name); /* where Python looks for its libraries; it keeps the name */
    initialize_python();
    fill_table(true);
    python.save_thread();
    if (atomic_load(&is_filled))
        atexit(at_exit);
}

static void start(void)
{
    if (!python.is_initialized()) {
        start_interpreter();
        return;
    }
    python_state state = python.ensure();
    fill_table(false);
    python.release(state);
}

static bool is_python_found;

static void find_once(void)
{
    is_python_found = find_python();
}

/* Do the first call's work, or wait until another thread has done it: that one needs Python's lock, which a
 * thread that waits must not hold. */
static void prepare(void)
{
    static pthread_once_t found = PTHREAD_ONCE_INIT, started = PTHREAD_ONCE_INIT;
    pthread_once(&found, find_once);
    if (!is_python_found)
        return;
    void *saved = NULL;
    if (python.is_initialized() && python.holds_lock())
        saved = python.save_thread();
    pthread_once(&started, start);
    if (saved != NULL)
        python.restore_thread(saved);
}

/* True if the table can be used; starts everything at the first call. False as well after the interpreter of
 * the process has ended, when objects of the client may still be destroyed. */
static bool is_ready(void)
{
    if (!atomic_load_explicit(&is_filled, memory_order_acquire))
        prepare();
    return atomic_load(&is_filled) && python.is_initialized();
}
