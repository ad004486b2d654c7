/* Messages of the library in the words of the command line: `dim` becomes --dim where the command
 * has such an option, --set dim where it takes settings of training so, "wfre train --dim" where
 * only another has it. Whatever else stands between backquotes was typed by the user and
 * stays. */
#include <string.h>

#include "commands.h"
#include "options.h"

enum { NAME_SIZE = 48 };

static const cli_command *running;

void options_running(const cli_command *command)
{
    running = command;
}

static bool has_option(const cli_command *command, const char *name)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return true;
    return false;
}

/* The command to be told about an option: the running one if it has it. NULL if none has. */
static const cli_command *find_command(const char *option)
{
    if (running && has_option(running, option))
        return running;
    for (size_t i = 0; cli_commands[i]; i++)
        if (has_option(cli_commands[i], option))
            return cli_commands[i];
    return NULL;
}

static bool is_training_setting(const char *name)
{
    const wfre_train_settings any = {0};
    for (size_t i = 0; i < wfre_train_setting_count(); i++)
        if (strcmp(wfre_train_setting(&any, i).name, name) == 0)
            return true;
    return false;
}

/* Writes the option for what stood between backquotes; false if it is none. */
static bool write_option(const char *quoted, size_t length, char *text, size_t size)
{
    char name[NAME_SIZE];
    const char *equals = memchr(quoted, '=', length);
    size_t name_length = equals ? (size_t)(equals - quoted) : length;
    if (name_length >= sizeof name)
        return false;
    memcpy(name, quoted, name_length);
    name[name_length] = '\0';
    const char *set = "";
    const cli_command *command = find_command(name);
    bool elsewhere = !command || (command != running && running && has_option(running, "set"));
    if (elsewhere && is_training_setting(name)) {
        set = "--set ";
        command = find_command("set");
    }
    if (!command)
        return false;
    bool here = command == running;
    const char *value = equals ? equals + 1 : "";
    (void)snprintf(text, size, "%s%s%s%s%s%s%s%.*s", here ? "" : "wfre ", here ? "" : command->name,
                   here ? "" : " ", set, *set ? "" : "--", name,
                   !equals ? ""
                   : *set  ? "="
                           : " ",
                   equals ? (int)(quoted + length - value) : 0, value);
    return true;
}

const char *cli_message(const wfre_error *error)
{
    static char text[2 * sizeof error->message];
    size_t used = 0;
    const char *from = error->message;
    while (*from && used < sizeof text - 1) {
        const char *end = *from == '`' ? strchr(from + 1, '`') : NULL;
        if (end &&
            write_option(from + 1, (size_t)(end - from - 1), text + used, sizeof text - used)) {
            used += strlen(text + used);
            from = end + 1;
        } else {
            text[used++] = *from++;
        }
    }
    text[used] = '\0';
    return text;
}
